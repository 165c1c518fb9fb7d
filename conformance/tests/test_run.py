"""Runs of the suite: crashes, hangs, resuming, waivers, modes, mistrust; with groups made for the purpose."""

import datetime
import os
import pathlib
import signal
import time

import pytest
import torch
from torch_conformance import waivers
from torch_conformance.adapter import AdapterError, from_table, read_adapter
from torch_conformance.case import Case, Group, Level
from torch_conformance.execute import Outcome, run_group
from torch_conformance.run import _may_match
from torch_conformance.scheduler import Job, Plan, Scheduler, processes_for, resume


def group_of(*bodies, constant=""):
    def make(_level):
        for number, body in enumerate(bodies):
            yield Case(f"area.op.functional.float32.value.{number}", body)

    return Group("area", "op", "float32", make, constant=constant)


def outcomes_of(group, **adapter):
    adapter = from_table({"device": "cpu", "provenance": "none", **adapter}, "test")
    return list(run_group(group, adapter, torch.device("cpu"), Level.FULL, list(adapter.modes)))


def test_outcomes_say_what_went_wrong():
    def value(t):
        t.equal(torch.ones(2), torch.zeros(2))

    def dtype(t):
        t.equal(torch.ones(2), torch.ones(2, dtype=torch.int32))

    def missing(t):
        raise NotImplementedError("aten::foo")

    def explodes(t):
        raise ZeroDivisionError("no")

    causes = [(o.status, o.cause) for o in outcomes_of(group_of(value, dtype, missing, explodes))]
    assert causes == [("fail", "value"), ("fail", "dtype"), ("fail", "missing"), ("fail", "exception")]


def test_results_that_show_nothing_are_mistrusted():
    def zeros(t):
        t.equal(torch.zeros(4), torch.zeros(4))

    assert [o.status for o in outcomes_of(group_of(zeros, zeros))] == ["mistrusted", "mistrusted"]
    assert [o.status for o in outcomes_of(group_of(zeros, constant="zeros"))] == ["pass"]
    assert [o.status for o in outcomes_of(group_of(zeros, lambda t: t.equal(torch.ones(2), torch.ones(2))))] == [
        "pass"
    ] * 2


def test_results_independent_of_the_input_are_mistrusted():
    def constant(t, number):
        t.inputs = str(number)
        t.equal(torch.ones(3), torch.ones(3))

    group = group_of(*(lambda t, n=n: constant(t, n) for n in range(4)))
    assert {o.status for o in outcomes_of(group)} == {"mistrusted"}


def test_unclaimed_cases_do_not_run():
    def never(t):
        raise AssertionError

    assert [o.status for o in outcomes_of(group_of(never), claims={"dtypes": ["int64"]})] == ["not-claimed"]
    assert [o.status for o in outcomes_of(group_of(never), claims={"except": ["o*"]})] == ["not-claimed"]


def plan(table, jobs, timeout=60.0):
    adapter = from_table(table, "test")
    return Plan(adapter, table, Level.QUICK, jobs, timeout, 1, lambda case, mode: f"again {case}")


CPU = {"device": "cpu", "provenance": "none", "import": ["misbehaviour"]}
SLICE = "views.slice.float32"


@pytest.fixture
def misbehaviour(tmp_path, monkeypatch):
    """A module that makes one case crash, hang or print."""

    def install(text):
        (tmp_path / "misbehaviour.py").write_text("import os, sys, time, torch\n" + text)
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")

    return install


AT_FILL = """
old = torch.Tensor.fill_
def fill_(self, value):
    if value == -3: {what}
    return old(self, value)
torch.Tensor.fill_ = fill_
"""


def statuses(outcomes):
    return {o.name.split(".")[2]: o.status for o in outcomes if ".float32." in o.name}


def test_a_crash_costs_one_case(misbehaviour):
    misbehaviour(AT_FILL.format(what="os.abort()"))
    found = [o for o in Scheduler(plan(CPU, [Job(SLICE, ("default",))])).run() if o]
    assert statuses(found)["fill"] == "crash"
    assert list(statuses(found).values()).count("pass") == len(statuses(found)) - 1
    crashed = next(o for o in found if o.status == "crash")
    assert crashed.reproducer == f"again {crashed.name}"
    assert len({o.name for o in found}) == len(found)


def test_a_hang_costs_one_case(misbehaviour):
    misbehaviour(AT_FILL.format(what="time.sleep(600)"))
    begin = time.monotonic()
    found = [o for o in Scheduler(plan(CPU, [Job(SLICE, ("default",))], timeout=25)).run() if o]
    assert statuses(found)["fill"] == "timeout"
    assert list(statuses(found).values()).count("pass") == len(statuses(found)) - 1
    assert time.monotonic() - begin < 300


def test_what_a_vendor_prints_is_not_an_answer(misbehaviour):
    misbehaviour('print("{\\"outcome\\": 3}")\nos.write(1, b"noise")\n' + AT_FILL.format(what='print("more")'))
    found = [o for o in Scheduler(plan(CPU, [Job(SLICE, ("default",))])).run() if o]
    assert set(statuses(found).values()) == {"pass"}


def test_resuming_drops_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "results.jsonl"
    whole = Outcome("a.b.c.d.e.0", "default", "pass").line()
    path.write_text(whole + "\n" + whole[:20])
    outcomes, problem = resume(path)
    assert [o.name for o in outcomes] == ["a.b.c.d.e.0"]
    assert "line 2" in problem


def test_modes_with_an_environment_get_a_process_of_their_own():
    table = {"device": "cpu", "modes": {"a": {}, "b": {"environment": {"X": "1"}}, "c": {}}}
    assert [[m.name for m in modes] for modes in processes_for(from_table(table, "t"))] == [["a", "c"], ["b"]]


@pytest.mark.parametrize(
    ("pattern", "group", "expected"),
    [
        ("*", "op.add.float32", True),
        ("op.add.*", "op.add.float32", True),
        ("op.add.*", "op.addmm.float32", False),
        ("op.add*", "op.addmm.float32", True),
        ("views.*", "op.add.float32", False),
        ("op.add.out.float32.value.3", "op.add.float32", True),
        ("op.add.out.float32.value.3", "op.add.int64", False),
        ("op.*.out.float32.value.3", "op.add.float32", True),
        ("[!m]*", "op.add.float32", True),
    ],
)
def test_patterns_choose_groups(pattern, group, expected):
    assert _may_match(group, pattern) is expected


TODAY = datetime.date(2026, 11, 29)


def waived(status, expires=datetime.date(2027, 1, 1), pattern="op.add.*"):
    outcome = Outcome("op.add.out.float32.value.3", "default", status, message="wrong")
    waivers.apply_waivers(outcome, [waivers.Waiver(pattern, "me", "because", expires)], TODAY)
    return outcome


def test_waivers_are_strict():
    assert waived("fail").status == "waived"
    assert waived("pass").status == "fail"
    assert "remove the waiver" in waived("pass").message
    assert waived("fail", datetime.date(2026, 1, 1)).status == "fail"
    assert "expired" in waived("fail", datetime.date(2026, 1, 1)).message
    assert waived("fail", pattern="op.sub.*").status == "fail"
    assert waived("not-claimed").status == "not-claimed"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[waiver]]\ncase = 'x'", "has no expires, owner, reason"),
        ("[[waiver]]\ncase='x'\nowner='y'\nreason='z'\nexpires='soon'", "expires is no date"),
        ("][", "is no TOML"),
    ],
)
def test_broken_waivers_are_named(tmp_path, text, complaint):
    path = tmp_path / "waivers.toml"
    path.write_text(text)
    with pytest.raises(waivers.WaiverError, match=complaint):
        waivers.read_waivers(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("device = 3", "'device' is a int, expected a str"),
        ("devise = 'cpu'", "unknown key 'devise'"),
        ("", "no device"),
        ("device = 'cpu'\nfloat32_matmul = 'int4'", "expected one of float32"),
        ("device = 'cpu'\n[equal_bits]\nmodes = [['a']]", "names mode 'a', which is not defined"),
        ("device = 'cpu'\n[modes.x]\ncontent = 'a'", "unknown key 'content'"),
        ("device = ", "is no TOML"),
    ],
)
def test_broken_adapters_are_named(tmp_path, text, complaint):
    path = tmp_path / "adapter.toml"
    path.write_text(text)
    with pytest.raises(AdapterError, match=complaint):
        read_adapter(path, None, [])


def test_missing_adapter_modules_and_devices_are_named():
    with pytest.raises(AdapterError, match="can't be read"):
        read_adapter(pathlib.Path("nowhere.toml"), None, [])
    with pytest.raises(AdapterError, match="module 'no_such_module' does not import"):
        read_adapter(None, "cpu", ["no_such_module"]).load()
    with pytest.raises(AdapterError, match="device 'nonsense' can't hold a tensor"):
        read_adapter(None, "nonsense", []).load()


def test_a_killed_run_goes_on(tmp_path):
    """The command is killed in the middle; --resume runs the rest, once each."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "torch_conformance", "run", "--device=cpu", "--select=views.*", "--workers=1"]
    command.append(f"--output={tmp_path}")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    results = tmp_path / "results.jsonl"
    for _ in range(1200):
        if results.exists() and results.read_text().count("\n") > 3:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = results.read_text().count("\n")
    assert subprocess.run([*command, "--resume"], check=False, capture_output=True, timeout=300).returncode == 0
    names = [Outcome.parse(line).name for line in results.read_text().splitlines()]
    assert len(names) == len(set(names)) > kept

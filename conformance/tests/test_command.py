"""The command line: what it writes, what it says, how it ends."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch_conformance
from torch_conformance import manifest


def run(*arguments, timeout=300):
    command = [sys.executable, "-m", "torch_conformance", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    done = run("run", "--device=cpu", "--select=hazards.*", f"--output={folder}")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_a_run_writes_its_files(results):
    folder, output = results
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["failed"] == 0
    assert output.splitlines()[-1] == f"{summary['passed']} passed, 0 failed"
    for name in ("run.json", "results.jsonl", "junit.xml", "report.html", "reached.json"):
        assert (folder / name).stat().st_size > 0
    assert summary["overloads_total"] == 676
    assert summary["core_total"] == 193
    assert 0 < summary["core_reached"] < 193


def test_plain_output_when_piped(results):
    assert "\r" not in results[1]
    assert "\x1b" not in results[1]


def test_pack_verify_compare(results):
    folder, _ = results
    target = folder / "run.zip"
    assert run("pack", str(folder), str(target)).returncode == 0
    checked = run("verify", str(target))
    assert checked.returncode == 1
    assert "only a part of the suite" in checked.stdout
    same = run("compare", str(target), str(folder))
    assert (same.returncode, same.stdout.strip()) == (0, "no case changed its status")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "--device=nonsense"], "device 'nonsense' can't hold a tensor"),
        (["run", "--device=cpu", "--import=no_such_module"], "module 'no_such_module' does not import"),
        (["run", "--adapter=nowhere.toml"], "adapter nowhere.toml can't be read"),
        (["run", "--device=cpu", "--select=nothing.*"], "no group of cases matches 'nothing.*'"),
        (["run", "--device=cpu", "--mode=fast"], "no mode is called 'fast'"),
        (["verify", "nowhere.zip"], "nowhere.zip is not there"),
        (["run"], "no device"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path, arguments, complaint):
    done = run(*arguments, *(["--output", str(tmp_path)] if arguments[0] == "run" else []))
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_failing_case_prints_how_to_repeat_it(tmp_path, monkeypatch):
    """A device that is wrong on purpose, in every other call."""
    (tmp_path / "wrong.py").write_text(
        "import torch\nold, calls = torch.relu, [0]\n"
        "def relu(x):\n    calls[0] += 1\n    return old(x) + calls[0] % 2\ntorch.relu = relu\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    select = "offsets.relu.offset.float32.value.0"
    arguments = ["run", "--device=cpu", "--import=wrong", f"--output={tmp_path / 'out'}", f"--select={select}"]
    done = run(*arguments)
    assert done.returncode == 1, done.stderr
    assert f"torch-conformance run --device=cpu --import=wrong --level quick --select {select}" in done.stdout


def test_lists():
    assert "views.slice.float32" in run("list", "--level=quick").stdout.splitlines()
    assert "streams" in run("list", "--features").stdout.splitlines()
    assert "hazards.ring.program.float32.value.0" in run("list", "--cases=hazards.ring.*").stdout.splitlines()


def test_results_are_as_their_schemas_say(results):
    jsonschema = pytest.importorskip("jsonschema")
    folder, _ = results
    schemas = pathlib.Path(torch_conformance.__file__).parent / "schemas"
    jsonschema.validate(json.loads((folder / "summary.json").read_text()), read(schemas / "summary.schema.json"))
    line = jsonschema.Draft202012Validator(read(schemas / "result.schema.json"))
    for text in (folder / "results.jsonl").read_text().splitlines():
        line.validate(json.loads(text))
    wrong = {"case": "no case name", "mode": "default", "status": "pass", "margin": 0, "seconds": 0}
    assert not line.is_valid(wrong)


def read(path):
    return json.loads(path.read_text())


def test_samples_are_the_same_in_any_process(tmp_path):
    """Their digests are part of the manifest, which a complete run is held against."""
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        done = run("run", "--device=cpu", "--select=op.add.*.float32.*", f"--output={folder}")
        assert done.returncode == 0, done.stderr
        found.append(read(folder / "inputs.json"))
    assert found[0] == found[1]
    assert len(found[0]["op.add.float32"]) == 12
    other = {"op.add.float32": "000000000000"}
    names = ["op.add.functional.float32.value.0"]
    frozen = manifest.digests(names, found[0])
    assert manifest.deviations(names, found[0], frozen) == []
    assert manifest.deviations(names, other, frozen) == [
        "op.add.float32: other samples than when the manifest was made"
    ]

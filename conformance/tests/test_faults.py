"""The suite's own backend: right when it is told nothing, wrong when told to be, and a null backend is nothing."""

import json
import os
import subprocess
import sys

import pytest

COMMAND = (sys.executable, "-m", "torch_conformance", "run")
AREAS = ("views.*", "offsets.*", "op.a*.float32.*")


def run(tmp_path, fault, *arguments):
    environment = dict(os.environ, TORCH_DEVICE_BACKEND_AUTOLOAD="0", MOCK_FAULT=fault)
    done = subprocess.run(
        [*COMMAND, "--adapter=conformance/adapters/mock.toml", f"--output={tmp_path}", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )
    return done, json.loads((tmp_path / "summary.json").read_text())


def test_a_null_backend_fails_nearly_everything(tmp_path):
    for area in AREAS:
        _, summary = run(tmp_path, "null.everything", f"--select={area}")
        bad = summary["failed"] + summary["mistrusted"] + summary["crashed"]
        assert bad > 0.9 * (bad + summary["passed"]), (area, summary)


@pytest.mark.parametrize(
    ("fault", "case"),
    [("sub.operands_swapped", "op.sub.functional.float32.value.10"), ("mul.fallback", "op.mul.functional.float32.*")],
)
def test_a_fault_is_found_by_the_command_line_too(tmp_path, fault, case):
    done, summary = run(tmp_path, "", f"--select={case}")
    assert (done.returncode, summary["failed"], summary["fallback"]) == (0, 0, 0)
    done, summary = run(tmp_path, fault, f"--select={case}")
    assert summary["failed"] + summary["fallback"] > 0


def test_an_unknown_fault_is_one_clear_line(tmp_path):
    environment = dict(os.environ, TORCH_DEVICE_BACKEND_AUTOLOAD="0", MOCK_FAULT="no.such")
    done = subprocess.run(
        [*COMMAND, "--device=mock", "--import=torch_mock", f"--output={tmp_path}", "--select=hazards.*"],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 2
    assert "there is no fault 'no.such'" in done.stderr

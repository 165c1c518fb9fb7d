"""The device is registered by hand, so that the tests also run against a build that is not installed."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import torch
import torch_tpu
from torch_tpu import _loader

_loader.register()

PACKAGE_DIR = pathlib.Path(torch_tpu.__file__).parent.parent


@pytest.fixture
def run_python(tmp_path):
    """Runs a program in a new interpreter in which the package is installed with its entry point."""
    site = tmp_path / "site"
    info = site / "torch_tpu_ref-0.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-tpu-ref\nVersion: 0.0.0\n")
    (info / "entry_points.txt").write_text("[torch.backends]\ntorch_tpu = torch_tpu._loader:load\n")

    def run(program, *, ok=True, **environment):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            env={**os.environ, "PYTHONPATH": f"{site}:{PACKAGE_DIR}", **environment},
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if ok:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def hbm_capacity():
    """Lets a test lower the capacity; restores it."""
    before = torch.tpu.emulator.hbm_capacity()
    yield torch.tpu.emulator.set_hbm_capacity
    torch.tpu.emulator.set_hbm_capacity(before)

"""What is missing is named, by the build and by ci/setup."""

import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = (ROOT / "ci/packages.txt").read_text().split()


def configure(folder: pathlib.Path, *arguments: str) -> str:
    """The complaint of a configuration that must fail."""
    command = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    # CMake breaks lines and indents.
    return re.sub(r"\s+", " ", done.stderr)


def test_build_names_every_missing_package(tmp_path):
    missing = {
        "TBB": "libtbb-dev",
        "Eigen3": "libeigen3-dev",
        "nlohmann_json": "nlohmann-json3-dev",
        "LLVM": "llvm-19-dev",
        "GTest": "libgtest-dev",
        "benchmark": "libbenchmark-dev",
        "MPFR": "libmpfr-dev",
        "GMP": "libgmp-dev",
    }
    complaint = configure(tmp_path, *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in missing))
    assert f"sudo apt-get install {' '.join(missing.values())} or run ci/setup" in complaint
    for name, package in missing.items():
        assert package in PACKAGES, f"ci/setup does not install what has {name}"


def test_build_names_only_what_is_missing(tmp_path):
    complaint = configure(tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON")
    assert "sudo apt-get install llvm-19-dev or run ci/setup" in complaint


def test_build_says_how_to_get_torch(tmp_path, monkeypatch):
    (tmp_path / "venv").mkdir()
    python = tmp_path / "venv/python"
    python.write_text('#!/bin/sh\nexec "$REAL_PYTHON" -S -I "$@"\n')  # without installed packages
    python.chmod(0o755)
    monkeypatch.setenv("REAL_PYTHON", sys.executable)
    complaint = configure(tmp_path / "build", f"-DTPU_PYTHON={python}")
    assert "has no torch. Install it with" in complaint
    assert "-m pip install torch==2.13.0" in complaint
    assert "-DTPU_BUILD_BACKEND=OFF" in complaint


@pytest.mark.parametrize(("user", "expected"), [("1000", "sudo apt-get install"), ("0", "has no apt-get")])
def test_setup_names_missing_packages(tmp_path, user, expected):
    """With a machine made of stand-ins: no package installed, no apt-get or no root."""
    stand_ins = {"id": f"echo {user}", "dpkg-query": "exit 0", "sudo": "exit 1"}
    if user != "0":
        stand_ins["apt-get"] = "exit 1"
    for name, body in stand_ins.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    for name in ("dirname", "bash", "env"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = subprocess.run(
        ["/usr/bin/bash", str(ROOT / "ci/setup")],
        env={"PATH": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert expected in done.stderr
    for package in PACKAGES:
        assert package in done.stderr


def test_one_version_of_torch():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    requirement = "torch==2.13.0"
    assert requirement in project["project"]["dependencies"]
    assert requirement in project["build-system"]["requires"]
    assert requirement in (ROOT / "ci/requirements.txt").read_text().split()
    assert f"TPU_TORCH_VERSION {requirement.split('==')[1]}" in (ROOT / "cmake/tpu_dependencies.cmake").read_text()


def test_one_version_of_the_project():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"project(torch_tpu_ref VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()

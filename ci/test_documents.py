"""Documents: every command shown is run or known to a test, every link leads somewhere."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")

# Commands that are too long to run here, and who runs them instead.
RUN_ELSEWHERE = {
    "./ci/test": "continuous integration: .ci/run is this command",
    "./ci/test --full": "by hand before a release; its parts are the commands of other rows",
    "./ci/conformance": "the tests conformance_*",
    "./ci/conformance --select 'views.*'": "the test conformance_cpu runs the same on another device",
    "build/conformance/cpp/conformance-cpp --device NAME --backend LIBRARY.so --results results.jsonl": (
        "the tests conformance_cpp.*"
    ),
    "TORCH_DEVICE_BACKEND_AUTOLOAD=0 PYTHONPATH=build/python .venv/bin/python conformance/tests/kill.py --write": (
        "the test conformance_all_faults, with --check"
    ),
    "PYTHONPATH=build/seeded:build/python .venv/bin/python ci/emulator_faults.py --write": (
        "the test emulator_faults, with --check"
    ),
    "pip install ./conformance": "the tests conformance_*, on what it would install",
    "python -m torch_conformance run --device NAME --import MODULE --output results": "test_command.py",
    "python -m torch_conformance pack results run.zip": "test_command.py",
    "python -m torch_conformance verify run.zip": "test_command.py",
    "ci/setup": "ci/test runs it first",
    "ninja -C build": "ci/setup runs it",
    "ctest --test-dir build -R evaluator --output-on-failure": "ci/test runs the whole of it",
    "ci/lint": "the tests lint_*",
    "ci/lint --fix cpp python": "the tests lint_*, without --fix",
    "ci/generate-docs": "the tests docs_status and numerics_page_is_current",
    "cmake --preset asan": "test_presets",
    "cmake --build --preset asan": "test_presets",
    "ctest --preset asan": "test_presets",
    ".venv/bin/python examples/digits_cnn.py --device tpu": "the conformance cases model.digits_cnn.*",
    ".venv/bin/python examples/gpt_characters.py --device tpu": "the conformance cases model.gpt_characters.*",
    ".venv/bin/python examples/mixture_of_experts.py --device tpu": "examples/test_examples.py",
    "pip install .": "test_package.py reads its settings; what it compiles is what ci/setup compiles",
}
RUN_HERE = {
    "PYTHONPATH=build/python .venv/bin/python -m torch_conformance list",
}


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (document.name, body)
        for document in DOCUMENTS
        for found, body in BLOCK.findall(document.read_text())
        if found == language
    ]


def commands() -> list[str]:
    lines = {line.strip() for _, body in blocks("bash") for line in body.splitlines()}
    return sorted(line for line in lines if line and not line.startswith("#"))


def test_each_command_is_accounted_for():
    assert set(commands()) == set(RUN_ELSEWHERE) | RUN_HERE


@pytest.mark.parametrize("command", sorted(RUN_HERE))
def test_command(command):
    if not (ROOT / ".venv/bin/python").exists():
        pytest.skip("no environment in .venv")
    done = subprocess.run(command, shell=True, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "model.llama_block.float32" in done.stdout


@pytest.mark.parametrize("command", sorted(RUN_ELSEWHERE))
def test_programs_of_commands_exist(command):
    for word in re.sub(r"^\.venv/bin/python ", "", command).split():
        if "/" in word and "*" not in word and "=" not in word:
            path = ROOT / word
            assert path.exists()
            assert path.suffix or os.access(path, os.X_OK)


def test_presets():
    listing = subprocess.run(["cmake", "--list-presets=all"], cwd=ROOT, check=True, capture_output=True, text=True)
    for kind in ("configure", "build", "test"):
        part = re.search(rf"Available {kind} presets:\n\n(.*?)(?=\nAvailable|\Z)", listing.stdout, re.DOTALL)
        assert part, listing.stdout
        found = set(re.findall(r'"(\w+)"', part.group(1)))
        assert {"release", "debug", "asan", "tsan"} <= found


@pytest.mark.parametrize(("document", "script"), blocks("python"))
def test_python_block(document, script):
    if os.environ.get("TPU_BUILD_BACKEND") != "ON":
        pytest.skip("the backend is not built")
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{document}: {done.stderr}"
    if "loss" not in script:
        assert done.stdout == ""
        return
    printed = re.fullmatch(r"loss (\d+\.\d+) on tpu:0\n", done.stdout)
    assert printed, done.stdout
    # 256 points of a smooth function, 641 parameters: it starts near 80 and learns.
    assert float(printed.group(1)) < 2.0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links(document):
    for target in LINK.findall(document.read_text()):
        if not re.match(r"\w+:", target):
            assert (document.parent / target).exists(), f"{document.name}: no {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_named_exist(document):
    """Paths in code spans that begin with a folder of the repository."""
    folders = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."))
    for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", document.read_text()):
        if not path.startswith("build"):
            assert (ROOT / path).exists(), f"{document.name}: no {path}"


def test_adapters_and_waivers_shown_are_accepted(tmp_path):
    from torch_conformance.adapter import read_adapter
    from torch_conformance.waivers import read_waivers

    shown = [body for name, body in blocks("toml") if name == "vendors.md"]
    assert len(shown) == 2
    for body in shown:
        (tmp_path / "shown.toml").write_text(body)
        if "[[waiver]]" in body:
            assert read_waivers(tmp_path / "shown.toml")[0].owner
        else:
            assert read_adapter(tmp_path / "shown.toml", None, []).equal_bits == (("eager", "lazy"),)

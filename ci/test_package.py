"""What `pip install .` would build: its settings are read as scikit-build-core reads them."""

import ast
import pathlib
import tomllib

import pytest

backend = pytest.importorskip("scikit_build_core.build", reason="scikit-build-core is not installed")

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]


@pytest.fixture(scope="module")
def metadata(tmp_path_factory):
    """The folder of the wheel's metadata. Nothing is compiled for it."""
    folder = tmp_path_factory.mktemp("metadata")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / backend.prepare_metadata_for_build_wheel(str(folder))


def test_name_version_and_needs(metadata):
    lines = (metadata / "METADATA").read_text().splitlines()
    for line in (
        "Name: torch-tpu-ref",
        "Version: 0.1.0",
        "License-Expression: Apache-2.0",
        "Requires-Python: >=3.11",
        "Requires-Dist: torch==2.13.0",
    ):
        assert line in lines


def test_import_torch_loads_it(metadata):
    text = (metadata / "entry_points.txt").read_text()
    assert text.split() == ["[torch.backends]", "torch_tpu", "=", "torch_tpu._loader:load"]


def test_wheel_is_for_one_python_and_platform(metadata):
    (tag,) = (line for line in (metadata / "WHEEL").read_text().splitlines() if line.startswith("Tag: "))
    python, abi, platform = tag.removeprefix("Tag: ").split("-")
    assert python.startswith("cp3")
    assert abi == python
    assert platform != "any"


def test_sources_and_targets_exist():
    (package,) = SETTINGS["wheel"]["packages"]
    assert (ROOT / package / "__init__.py").exists()
    rules = (ROOT / "backend/CMakeLists.txt").read_text() + (ROOT / "backend/python/CMakeLists.txt").read_text()
    for target in SETTINGS["build"]["targets"]:
        assert f"add_library({target} " in rules
        assert f"install(TARGETS {target} LIBRARY DESTINATION torch_tpu)" in rules


def test_entry_point_exists():
    """`import torch` calls it; a wrong name would only show as a warning there."""
    tree = ast.parse((ROOT / "backend/python/torch_tpu/_loader.py").read_text())
    assert "load" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}

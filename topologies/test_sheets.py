"""Each data sheet is as schema.json says."""

import json
import pathlib

import pytest

jsonschema = pytest.importorskip("jsonschema")
FOLDER = pathlib.Path(__file__).parent
SHEETS = sorted(path for path in FOLDER.glob("*.json") if path.name != "schema.json")


def schema():
    return json.loads((FOLDER / "schema.json").read_text())


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_sheet(sheet):
    jsonschema.validate(json.loads(sheet.read_text()), schema())


def test_a_number_without_its_source_is_refused():
    sheet = json.loads(SHEETS[0].read_text())

    def without_sources(node):
        if isinstance(node, dict):
            return {key: without_sources(value) for key, value in node.items() if key != "source"}
        return [without_sources(item) for item in node] if isinstance(node, list) else node

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(without_sources(sheet), schema())

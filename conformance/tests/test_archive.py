"""Submissions: packed, checked, compared; whatever was done to them is named."""

import json
import xml.etree.ElementTree as ET
import zipfile

import pytest
from torch_conformance import archive, manifest
from torch_conformance.execute import Outcome
from torch_conformance.report.junit import write_junit
from torch_conformance.report.page import page_data, write_page

OUTCOMES = [
    Outcome("op.add.out.float32.value.3", "default", "pass", 0.25, 0.01, "00"),
    Outcome("op.add.out.float32.value.4", "default", "fail", float("inf"), 0.01, "", "value", "got \x00 <1>", "again"),
    Outcome("op.mul.out.int64.value.0", "default", "crash", float("inf"), 0.5, "", "crash", "ended with -6", "again"),
]
SUMMARY = {"passed": 1, "failed": 1, "crashed": 1, "timeout": 0, "fallback": 0, "waived": 0, "not_claimed": 0}
SUMMARY |= {"mistrusted": 0, "device": "cpu", "level": "quick", "modes": ["default"]}
SUMMARY |= {"overloads_reached": 1, "overloads_total": 676, "core_reached": 1, "core_total": 193}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"select": "op.*", "shard": [1, 1], "level": "quick"}))
    (tmp_path / "summary.json").write_text(json.dumps(SUMMARY))
    (tmp_path / "inputs.json").write_text("{}")
    (tmp_path / "results.jsonl").write_text("".join(o.line() + "\n" for o in OUTCOMES))
    return tmp_path


def rewritten(path, change):
    """The archive with `change(name, data)` applied to its members; None drops one."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in members.items():
            changed = change(name, data)
            if changed is not None:
                new.writestr(name, changed)
    return path


@pytest.fixture
def packed(folder):
    archive.pack(folder, folder / "run.zip")
    return folder / "run.zip"


def test_a_partial_run_is_called_one(packed):
    assert archive.verify(packed) == ["only a part of the suite: select op.*, shard [1, 1]"]


def test_packing_twice_gives_the_same_bytes(folder, packed):
    archive.pack(folder, folder / "again.zip")
    assert (folder / "again.zip").read_bytes() == packed.read_bytes()


def test_tampering_is_named(packed):
    rewritten(packed, lambda name, data: data.replace(b"fail", b"pass") if name == "results.jsonl" else data)
    assert archive.verify(packed) == ["results.jsonl was changed after it was packed"]


def test_missing_and_added_members_are_named(packed):
    rewritten(packed, lambda name, data: None if name == "summary.json" else data)
    assert "summary.json is missing" in archive.verify(packed)
    with zipfile.ZipFile(packed, "a") as more:
        more.writestr("extra.txt", "x")
    assert "extra.txt was added" in archive.verify(packed)


def test_a_summary_that_does_not_add_up_is_named(folder):
    (folder / "summary.json").write_text(json.dumps({**SUMMARY, "passed": 3, "failed": 0}))
    archive.pack(folder, folder / "run.zip")
    assert "summary.json says 3 passed, results.jsonl holds 1" in archive.verify(folder / "run.zip")


def test_what_is_no_archive_is_one_clear_line(tmp_path):
    (tmp_path / "x.zip").write_text("nonsense")
    with pytest.raises(archive.ArchiveError, match="is no archive of a run"):
        archive.verify(tmp_path / "x.zip")
    with pytest.raises(archive.ArchiveError, match="is not there"):
        archive.verify(tmp_path / "y.zip")
    with pytest.raises(archive.ArchiveError, match="holds no finished run"):
        archive.pack(tmp_path, tmp_path / "z.zip")


def test_another_list_of_cases_is_named(folder, monkeypatch, tmp_path):
    (folder / "run.json").write_text(json.dumps({"select": "*", "shard": [1, 1], "level": "quick"}))
    archive.pack(folder, folder / "run.zip")
    monkeypatch.setattr(manifest, "FOLDER", tmp_path / "manifests")
    manifest.write_manifest(OUTCOMES, {}, manifest.manifest_path("quick"))
    assert archive.verify(folder / "run.zip") == []
    manifest.write_manifest(OUTCOMES[1:], {}, manifest.manifest_path("quick"))
    assert "op.add.float32: 2 cases, expected 1 of other names" in archive.verify(folder / "run.zip")[0]


def test_comparisons_show_what_became_worse():
    after = [Outcome(OUTCOMES[0].name, "default", "fail", message="bad"), Outcome(OUTCOMES[1].name, "default", "pass")]
    after.append(Outcome("op.new.out.int64.value.0", "default", "pass"))
    kinds = [line.split(":")[0] for line in archive.compare(OUTCOMES, after)]
    assert kinds == ["worse", "lost", "better", "new"]
    assert archive.compare(OUTCOMES, OUTCOMES) == []


def test_junit_holds_every_case(tmp_path):
    write_junit(OUTCOMES, tmp_path / "junit.xml")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case.get("name") for case in suite] == ["3", "4", "0"]


def test_the_page_holds_every_case(tmp_path):
    data = page_data(OUTCOMES, SUMMARY, {"aten::add.Tensor"})
    assert data["rows"]["n"] == [3, 4, 0]
    assert data["rows"]["margin"] == [0.25, -1, -1]
    assert ["add.Tensor", 1, 1] in data["overloads"]
    write_page(OUTCOMES, SUMMARY, set(), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "@DATA@" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page

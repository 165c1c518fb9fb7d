"""A submission: results, environment, claims, waivers and log in one file that can be checked.

The archive is a zip. `contents.json` holds the SHA-256 of every other member, so that a changed, a
missing or an added member is seen.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import zipfile
import zlib
from collections import Counter
from typing import Any

from .execute import SUMMARY, Outcome
from .manifest import deviations, read_manifest

MEMBERS = ("run.json", "summary.json", "results.jsonl", "report.html", "junit.xml", "reached.json", "inputs.json")
REQUIRED = ("run.json", "summary.json", "results.jsonl", "inputs.json")
_EPOCH = (2020, 1, 1, 0, 0, 0)


class ArchiveError(Exception):
    """An archive that can't be read; one line for the user."""


def pack(folder: pathlib.Path, target: pathlib.Path) -> None:
    """Raises `ArchiveError` if the folder holds no finished run."""
    missing = [name for name in REQUIRED if not (folder / name).exists()]
    if missing:
        raise ArchiveError(f"{folder} holds no finished run: {', '.join(missing)} missing")
    contents = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in MEMBERS:
            if (folder / name).exists():
                data = (folder / name).read_bytes()
                contents[name] = hashlib.sha256(data).hexdigest()
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("contents.json", _EPOCH), json.dumps(contents, indent=1), zipfile.ZIP_DEFLATED)


def _members(path: pathlib.Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except FileNotFoundError as error:
        raise ArchiveError(f"{path} is not there") from error
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise ArchiveError(f"{path} is no archive of a run: {error}") from error


def read(path: pathlib.Path) -> tuple[dict[str, Any], list[Outcome]]:
    """Header and outcomes, from an archive or a results folder. Raises `ArchiveError`."""
    if path.is_dir():
        members = {name: (path / name).read_bytes() for name in REQUIRED if (path / name).exists()}
    else:
        members = _members(path)
    missing = [name for name in REQUIRED if name not in members]
    if missing:
        raise ArchiveError(f"{path} is incomplete: {', '.join(missing)} missing")
    outcomes = []
    for number, line in enumerate(members["results.jsonl"].decode(errors="replace").splitlines(), 1):
        try:
            outcomes.append(Outcome.parse(line))
        except ValueError as error:
            raise ArchiveError(f"{path}: results.jsonl: line {number} {error}") from error
    try:
        return json.loads(members["run.json"]), outcomes
    except ValueError as error:
        raise ArchiveError(f"{path}: run.json is no JSON: {error}") from error


def verify(path: pathlib.Path) -> list[str]:
    """What is wrong with an archive; empty if nothing is. Raises `ArchiveError` for what is none."""
    members = _members(path)
    if "contents.json" not in members:
        return ["contents.json is missing"]
    try:
        contents: dict[str, str] = json.loads(members["contents.json"])
    except ValueError as error:
        return [f"contents.json is no JSON: {error}"]
    problems = [f"{name} is missing" for name in contents if name not in members]
    problems += [f"{name} was added" for name in members if name not in contents and name != "contents.json"]
    for name, digest in contents.items():
        if name in members and hashlib.sha256(members[name]).hexdigest() != digest:
            problems.append(f"{name} was changed after it was packed")
    problems += [f"{name} is missing" for name in REQUIRED if name not in contents]
    if problems:
        return problems
    return _verify_contents(path, json.loads(members["summary.json"]), json.loads(members["inputs.json"]))


def _verify_contents(path: pathlib.Path, summary: dict[str, Any], inputs: dict[str, str]) -> list[str]:
    header, outcomes = read(path)
    problems = []
    counts = Counter(outcome.status for outcome in outcomes)
    for key, status in SUMMARY.items():
        if summary.get(key) != counts[status]:
            problems.append(f"summary.json says {summary.get(key)} {key}, results.jsonl holds {counts[status]}")
    twice = [name for name, n in Counter((o.name, o.mode) for o in outcomes).items() if n > 1]
    problems += [f"{name} [{mode}] has two outcomes" for name, mode in twice[:5]]
    if header.get("select") != "*" or header.get("shard") != [1, 1]:
        problems.append(f"only a part of the suite: select {header.get('select')}, shard {header.get('shard')}")
        return problems
    manifest = read_manifest(str(header.get("level")))
    if manifest is None:
        return [*problems, f"no manifest for level {header.get('level')} of this torch"]
    different = deviations((outcome.name for outcome in outcomes), inputs, manifest)
    problems += [f"other cases than the manifest's: {text}" for text in different[:10]]
    if len(different) > 10:
        problems.append(f"... and {len(different) - 10} more groups")
    return problems


def compare(first: list[Outcome], second: list[Outcome]) -> list[str]:
    """What became worse, better, new or lost from one run to another."""
    before = {(o.name, o.mode): o for o in first}
    after = {(o.name, o.mode): o for o in second}
    lines = []
    for key, outcome in after.items():
        old = before.get(key)
        if old is None or old.status == outcome.status:
            continue
        kind = "worse" if outcome.bad and not old.bad else "better" if old.bad and not outcome.bad else "changed"
        lines.append(f"{kind}: {key[0]} [{key[1]}] {old.status} -> {outcome.status} {outcome.message[:100]}".rstrip())
    lines += [
        f"lost: {name} [{mode}] was {o.status}" for (name, mode), o in before.items() if (name, mode) not in after
    ]
    lines += [f"new: {name} [{mode}] {o.status}" for (name, mode), o in after.items() if (name, mode) not in before]
    order = {"worse": 0, "lost": 1, "changed": 2, "better": 3, "new": 4}
    return sorted(lines, key=lambda line: (order[line.split(":")[0]], line))

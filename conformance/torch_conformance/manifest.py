"""The frozen list of cases for a torch version: how many each group has, and what goes into them.

`manifests/torch-2.13.0-full.json` maps a group's name to [number of cases, digest of their names, digest of
their samples]; the last is empty for groups that no database made samples for. A run whose groups have
other cases or other samples than the manifest says cannot be compared with another one's.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from .execute import Outcome

FOLDER = pathlib.Path(__file__).resolve().with_name("manifests")


def manifest_path(level: str) -> pathlib.Path:
    release = torch.__version__.split("+")[0]
    return FOLDER / f"torch-{release}-{level}.json"


def group_of(case: str) -> str:
    area, op, _, dtype, _, _ = case.split(".")
    return f"{area}.{op}.{dtype}"


def digests(names: Iterable[str], inputs: Mapping[str, str]) -> dict[str, list[Any]]:
    """For each group, the number of cases, and digests of their names and samples."""
    groups: dict[str, set[str]] = defaultdict(set)
    for name in names:
        groups[group_of(name)].add(name)
    return {
        group: [len(cases), _digest("\n".join(sorted(cases))), inputs.get(group, "")]
        for group, cases in sorted(groups.items())
    }


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def write_manifest(outcomes: list[Outcome], inputs: Mapping[str, str], path: pathlib.Path) -> None:
    """From a complete run on the CPU."""
    rows = digests((outcome.name for outcome in outcomes), inputs)
    body = ",\n".join(f"{json.dumps(group)}: {json.dumps(row)}" for group, row in rows.items())
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + body + "\n}\n")


def read_manifest(level: str) -> dict[str, list[Any]] | None:
    """None where no list is frozen for this torch and level."""
    path = manifest_path(level)
    return json.loads(path.read_text()) if path.exists() else None


def deviations(names: Iterable[str], inputs: Mapping[str, str], manifest: dict[str, list[Any]]) -> list[str]:
    """What is missing from a complete run, or has other cases or samples than the manifest."""
    found = digests(names, inputs)
    problems = [f"{group}: {row[0]} cases missing" for group, row in manifest.items() if group not in found]
    for group, row in found.items():
        if group not in manifest:
            problems.append(f"{group}: not in the manifest")
        elif row[:2] == manifest[group][:2] and row[2] != manifest[group][2]:
            problems.append(f"{group}: other samples than when the manifest was made")
        elif row != manifest[group]:
            problems.append(f"{group}: {row[0]} cases, expected {manifest[group][0]} of other names")
    return problems

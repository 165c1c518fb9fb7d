"""The frozen list of cases for a torch version: how many each group has, and what goes into them.

`manifests/torch-2.13.0.json` maps a group's name to [cases at level full, digest of their names]. A run
whose groups have other cases than the manifest says cannot be compared with another one's.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections import defaultdict
from collections.abc import Iterable
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


def digests(names: Iterable[str]) -> dict[str, list[Any]]:
    """For each group, the number of cases and a digest of their names."""
    groups: dict[str, set[str]] = defaultdict(set)
    for name in names:
        groups[group_of(name)].add(name)
    return {
        group: [len(cases), hashlib.blake2b("\n".join(sorted(cases)).encode(), digest_size=6).hexdigest()]
        for group, cases in sorted(groups.items())
    }


def write_manifest(outcomes: list[Outcome], path: pathlib.Path) -> None:
    """From the outcomes of a complete run on the CPU."""
    rows = digests(outcome.name for outcome in outcomes)
    body = ",\n".join(f"{json.dumps(group)}: {json.dumps(row)}" for group, row in rows.items())
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + body + "\n}\n")


def read_manifest(level: str) -> dict[str, list[Any]] | None:
    """None where no list is frozen for this torch and level."""
    path = manifest_path(level)
    return json.loads(path.read_text()) if path.exists() else None


def deviations(names: Iterable[str], manifest: dict[str, list[Any]]) -> list[str]:
    """What is missing from a complete run, or has other cases than the manifest."""
    found = digests(names)
    problems = [f"{group}: {row[0]} cases missing" for group, row in manifest.items() if group not in found]
    for group, row in found.items():
        if group not in manifest:
            problems.append(f"{group}: not in the manifest")
        elif row != manifest[group]:
            problems.append(f"{group}: {row[0]} cases, expected {manifest[group][0]} of other names")
    return problems

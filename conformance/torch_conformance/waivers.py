"""Failures that somebody answers for: a TOML file of

    [[waiver]]
    case = "op.linalg-eig.*.float32.*"   # pattern over case names
    owner = "name@vendor.example"
    reason = "eigenvectors are normalised differently; issue 123"
    expires = 2027-01-31

A waived case that passes is an error, and so is an expired waiver: the list shrinks by itself.
"""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import pathlib

from .execute import Outcome
from .toml_file import read_toml


class WaiverError(Exception):
    """A waiver file that can't be used; one line for the user."""


@dataclasses.dataclass(frozen=True)
class Waiver:
    case: str
    owner: str
    reason: str
    expires: datetime.date


def read_waivers(path: pathlib.Path) -> list[Waiver]:
    table = read_toml(path, "waivers", WaiverError)
    waivers = []
    for number, row in enumerate(table.get("waiver", []), 1):
        missing = {"case", "owner", "reason", "expires"} - set(row)
        if missing:
            raise WaiverError(f"waivers {path}: waiver {number} has no {', '.join(sorted(missing))}")
        if not isinstance(row["expires"], datetime.date):
            raise WaiverError(f"waivers {path}: waiver {number}: expires is no date such as 2027-01-31")
        waivers.append(Waiver(row["case"], row["owner"], row["reason"], row["expires"]))
    return waivers


def apply_waivers(outcome: Outcome, waivers: list[Waiver], today: datetime.date) -> None:
    """Changes the status of a waived failure, and of a waived case that passes."""
    for waiver in waivers:
        if not fnmatch.fnmatchcase(outcome.name, waiver.case):
            continue
        if outcome.status == "not-claimed":
            return
        if waiver.expires < today:
            if outcome.bad:
                outcome.message = f"waiver of {waiver.owner} expired on {waiver.expires}: {outcome.message}"
            return
        if outcome.bad:
            outcome.status = "waived"
            outcome.message = f"{waiver.owner}: {waiver.reason} ({outcome.message})"
        else:
            outcome.status, outcome.cause = "fail", "waiver"
            outcome.message = f"passes, but {waiver.owner} has waived it: {waiver.case}; remove the waiver"
        return

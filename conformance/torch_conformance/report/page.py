"""The report page: one file, usable with a hundred thousand cases.

Rows are columns of small integers and a text pool, deflated and base64-encoded; the page inflates
them, filters in memory and draws only the rows that are on the screen.
"""

from __future__ import annotations

import base64
import json
import math
import pathlib
import zlib
from typing import Any

from ..coverage import core, needing_a_kernel
from ..execute import Outcome
from .table import STATUSES

_TEMPLATE = pathlib.Path(__file__).with_name("page.html")


class _Pool:
    """Texts by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def texts(self) -> list[str]:
        return list(self.numbers)


def page_data(outcomes: list[Outcome], summary: dict[str, Any], reached: set[str]) -> dict[str, Any]:
    """What the page shows, as JSON can hold it."""
    pools = {key: _Pool() for key in ("area", "op", "variant", "dtype", "aspect", "mode", "cause", "text")}
    rows: dict[str, list[Any]] = {key: [] for key in ("n", "status", "margin", "seconds", "message", *pools)}
    del rows["text"]
    rows["reproducer"] = []
    for outcome in outcomes:
        *parts, number = outcome.name.split(".")
        for key, value in zip(("area", "op", "variant", "dtype", "aspect"), parts, strict=True):
            rows[key].append(pools[key].number(value))
        rows["n"].append(int(number))
        rows["mode"].append(pools["mode"].number(outcome.mode))
        rows["cause"].append(pools["cause"].number(outcome.cause))
        rows["status"].append(STATUSES.index(outcome.status))
        rows["margin"].append(round(outcome.margin, 4) if math.isfinite(outcome.margin) else -1)
        rows["seconds"].append(round(outcome.seconds, 4))
        rows["message"].append(pools["text"].number(outcome.message[:600]))
        rows["reproducer"].append(pools["text"].number(outcome.reproducer))
    needed, mandatory = sorted(needing_a_kernel() | core()), core()
    return {
        "summary": summary,
        "statuses": STATUSES,
        "pools": {key: pool.texts() for key, pool in pools.items()},
        "rows": rows,
        "overloads": [[name.removeprefix("aten::"), int(name in reached), int(name in mandatory)] for name in needed],
    }


def write_page(outcomes: list[Outcome], summary: dict[str, Any], reached: set[str], path: pathlib.Path) -> None:
    """Writes the report as one file that needs nothing else."""
    text = json.dumps(page_data(outcomes, summary, reached), separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(text.encode(), 6)).decode()
    page = _TEMPLATE.read_text()
    page = page.replace("@DEVICE@", str(summary["device"])).replace("@DATA@", packed)
    path.write_text(page)

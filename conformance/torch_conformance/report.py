"""What a run leaves behind: a table on the screen, JSON for machines, a page for people."""

from __future__ import annotations

import dataclasses
import html
import json
import math
import pathlib
from collections import Counter

from .outcome import Outcome, Status


def summary(outcomes: list[Outcome]) -> dict[str, int]:
    counts = Counter(outcome.status for outcome in outcomes)
    return {
        "passed": counts[Status.PASS],
        "failed": counts[Status.FAIL],
        "crashed": counts[Status.CRASH],
        "timeout": counts[Status.TIMEOUT],
    }


def table_row(outcome: Outcome) -> str:
    margin = f"{outcome.margin:8.3f}" if math.isfinite(outcome.margin) else "     inf"
    return f"{outcome.status:8}{margin} {outcome.seconds:7.1f}s  {outcome.case}"


def _json_number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def write_json(outcomes: list[Outcome], device: str, folder: pathlib.Path) -> None:
    (folder / "summary.json").write_text(json.dumps({"device": device, **summary(outcomes)}, indent=2) + "\n")
    details = []
    for outcome in outcomes:
        row = dataclasses.asdict(outcome)
        row["margin"] = _json_number(outcome.margin)
        for check in row["checks"]:
            check["margin"] = _json_number(check["margin"])
        details.append(row)
    (folder / "details.json").write_text(json.dumps(details, indent=1) + "\n")


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Conformance of {device}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; }}
td.margin {{ width: 16rem; }}
.bar {{ background: #e8e8e8; height: .8rem; position: relative; }}
.bar i {{ background: #3a7; display: block; height: 100%; }}
tr.fail .bar i, tr.crash .bar i {{ background: #c33; }}
details {{ color: #555; }} code {{ font-size: 13px; }}
</style>
<h1>Conformance of <code>{device}</code></h1>
<p>{counts}</p>
<p>The bar is the largest error over its bound: full means the bound is reached.</p>
<table><tr><th>case</th><th>status</th><th>margin</th><th>seconds</th></tr>
{rows}
</table></html>
"""


def _page_row(outcome: Outcome) -> str:
    width = min(outcome.margin, 1.0) * 100
    worst = sorted(outcome.checks, key=lambda check: -check.margin)[:8]
    notes = "".join(
        f"<div>{check.margin:.3g} <code>{html.escape(check.name)}</code> {html.escape(check.note)}</div>"
        for check in worst
    )
    if outcome.message:
        notes += f"<pre>{html.escape(outcome.message)}</pre>"
    return (
        f'<tr class="{outcome.status}"><td><code>{html.escape(outcome.case)}</code>'
        f"<details><summary>{len(outcome.checks)} checks</summary>{notes}</details></td>"
        f'<td>{outcome.status}</td><td class="margin"><div class="bar"><i style="width:{width:.1f}%"></i></div>'
        f"{outcome.margin:.3g}</td><td>{outcome.seconds:.1f}</td></tr>"
    )


def write_page(outcomes: list[Outcome], device: str, folder: pathlib.Path) -> None:
    counts = ", ".join(f"{number} {name}" for name, number in summary(outcomes).items())
    rows = "\n".join(_page_row(outcome) for outcome in outcomes)
    (folder / "report.html").write_text(PAGE.format(device=html.escape(device), counts=counts, rows=rows))

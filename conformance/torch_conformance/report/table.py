"""The table that a run prints."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from ..execute import Outcome

STATUSES = ("pass", "pass-by-fallback", "waived", "not-claimed", "fail", "crash", "timeout", "mistrusted")


def area_table(outcomes: list[Outcome]) -> list[str]:
    """A line an area: how many cases ended how."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        counts[outcome.name.split(".", 1)[0]][outcome.status] += 1
    used = [status for status in STATUSES if any(c[status] for c in counts.values())]
    lines = [f"{'area':16}" + "".join(f"{status:>18}" for status in used)]
    lines += [
        f"{area:16}" + "".join(f"{c[status] or '-':>18}" for status in used) for area, c in sorted(counts.items())
    ]
    total: Counter[str] = sum(counts.values(), Counter())
    return [*lines, f"{'all':16}" + "".join(f"{total[status] or '-':>18}" for status in used)]


def failures(outcomes: list[Outcome], limit: int = 20) -> list[str]:
    """The first failures, a line or two each, with their reproducers."""
    bad = [outcome for outcome in outcomes if outcome.bad]
    lines = []
    for outcome in bad[:limit]:
        first = (outcome.message.splitlines() or [""])[0][:160]
        lines += [
            f"{outcome.status} {outcome.name} [{outcome.mode}] {outcome.cause}: {first}",
            f"    {outcome.reproducer}",
        ]
    if len(bad) > limit:
        lines.append(f"... and {len(bad) - limit} more: see report.html")
    return lines


def closing_lines(summary: dict[str, Any]) -> list[str]:
    reached = f"{summary['overloads_reached']} of {summary['overloads_total']} overloads, "
    reached += f"{summary['core_reached']} of {summary['core_total']} core ones were reached"
    bad = sum(summary[key] for key in ("failed", "crashed", "timeout", "mistrusted"))
    return [reached, f"{summary['passed']} passed, {bad} failed"]

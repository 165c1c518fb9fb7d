"""JUnit XML, as CI systems read it."""

from __future__ import annotations

import pathlib
import re
from collections import defaultdict
from xml.etree import ElementTree

from ..execute import Outcome

_CONTROL = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd]")


def write_junit(outcomes: list[Outcome], path: pathlib.Path) -> None:
    """A suite an area and mode."""
    areas: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        areas[outcome.name.split(".", 1)[0], outcome.mode].append(outcome)
    root = ElementTree.Element("testsuites", name="torch-conformance")
    for (area, mode), members in sorted(areas.items()):
        suite = ElementTree.SubElement(root, "testsuite", name=f"{area} [{mode}]", tests=str(len(members)))
        suite.set("failures", str(sum(o.status in ("fail", "mistrusted") for o in members)))
        suite.set("errors", str(sum(o.status in ("crash", "timeout") for o in members)))
        suite.set("skipped", str(sum(o.status in ("not-claimed", "waived") for o in members)))
        for outcome in members:
            _case(suite, outcome)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _case(suite: ElementTree.Element, outcome: Outcome) -> None:
    classname, _, name = outcome.name.rpartition(".")
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=name, time=f"{outcome.seconds:.4f}")
    kinds = {"fail": "failure", "mistrusted": "failure", "crash": "error", "timeout": "error"}
    text = _CONTROL.sub("?", f"{outcome.message}\n{outcome.reproducer}")
    if outcome.status in kinds:
        problem = ElementTree.SubElement(case, kinds[outcome.status], message=f"{outcome.status}: {outcome.cause}")
        problem.text = text
    elif outcome.status in ("not-claimed", "waived"):
        ElementTree.SubElement(case, "skipped", message=outcome.status)

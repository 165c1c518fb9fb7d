"""Switches a backend's faults on, one after another, and shows that the suite finds each.

    TORCH_DEVICE_BACKEND_AUTOLOAD=0 python conformance/tests/kill.py [--select PATTERN] [--write | --check]

Each fault runs in a child of this process, in which everything is imported already. Cases are tried
group by group, at level quick and then at full, until one fails; that case must pass without the fault.
--write notes which case it was in a document (docs/faults.md), trying the one noted there first; --check tries only
those, and requires that the document names all faults.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import importlib
import json
import multiprocessing
import pathlib
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection

import torch
from torch_conformance.adapter import Adapter, read_adapter
from torch_conformance.case import Level
from torch_conformance.execute import Outcome, Watch, run_group
from torch_conformance.manifest import group_of
from torch_conformance.oracle.defects import defect_of
from torch_conformance.provenance import Provenance
from torch_conformance.sources.catalogue import find_group, group_names

HERE = pathlib.Path(__file__).parent
KILL_RATE = HERE.parent / "torch_conformance" / "kill_rate.json"
TIMEOUT = 300.0
FORK = multiprocessing.get_context("fork")


@dataclasses.dataclass(frozen=True)
class Fault:
    """A row of the mock's tables: `cases` is the pattern that must find it."""

    name: str
    kind: str
    cases: str


@dataclasses.dataclass(frozen=True)
class Subject:
    """A backend that can be told to be wrong."""

    adapter: Adapter
    faults: list[Fault]
    switch_on: Callable[[str], None]
    document: pathlib.Path
    introduction: str


@dataclasses.dataclass
class Verdict:
    """What became of a fault: the case that found it and how, or nothing."""

    fault: Fault
    case: str = ""
    how: str = ""
    level: str = ""
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        return bool(self.case)


def groups_for(fault: Fault, level: Level) -> list[str]:
    """Groups that may hold cases of the fault's pattern; those of its operator first."""
    op = fault.name.split(".", maxsplit=1)[0].removesuffix("_backward").rstrip("_")

    def distance(name: str) -> int:
        area, subject, dtype = name.split(".")
        near = 0 if subject.endswith(op) else 1 if op in subject else 2
        return 10 * near + (0 if dtype == "float32" else 1) + (0 if area != "op" else 2) + 20 * (area == "model")

    return sorted((name for name in group_names(level) if may_hold(name, fault.cases)), key=distance)


def may_hold(group: str, pattern: str) -> bool:
    """Whether a case of the group, area.op.variant.dtype.aspect.n, could match the pattern."""
    area, op, dtype = group.split(".")
    parts = pattern.split(".")
    if any(name in pattern and name != dtype for name in ("int64", "float64")):
        return False
    if len(parts) < 3:
        return fnmatch.fnmatchcase(f"{area}.{op}.x.{dtype}.x.0", pattern)
    return fnmatch.fnmatchcase(area, parts[0]) and fnmatch.fnmatchcase(op, parts[1])


def outcomes(fault: Fault, adapter: Adapter, level: Level, begin: Connection, only: str = "") -> Iterator[Outcome]:
    """Of the cases of the fault's pattern (or of one case), one after another."""
    device = torch.device(adapter.device)

    def wanted(name: str) -> bool:
        return (name == only if only else fnmatch.fnmatchcase(name, fault.cases)) and defect_of(name) is None

    watch = Watch(lambda name: begin.send(("begin", name, level.name.lower())), wanted, Provenance(adapter))
    for name in groups_for(fault, level):
        if not only or name == group_of(only):
            group = find_group(name, level, adapter.float32_matmul)
            yield from run_group(group, adapter, device, level, list(adapter.modes), watch)


def hunt(fault: Fault, subject: Subject, known: Verdict | None, excluded: frozenset[str], sender: Connection) -> None:
    """In a child: reports the first case that does not pass, of all but the excluded groups or of the known one."""
    warnings.simplefilter("ignore")
    subject.switch_on(fault.name)
    for level in [Level[known.level.upper()]] if known else [Level.QUICK, Level.FULL]:
        for outcome in outcomes(fault, subject.adapter, level, sender, known.case if known else ""):
            failed = outcome.status not in ("pass", "not-claimed") and outcome.cause != "missing"
            if failed and group_of(outcome.name) not in excluded:
                sender.send(("found", outcome.name, f"{outcome.status}: {outcome.cause}"))
                return
    sender.send(("found", "", ""))


def confirm(fault: Fault, adapter: Adapter, case: str, level: Level, sender: Connection) -> None:
    """In a child: reports whether the case passes without the fault."""
    warnings.simplefilter("ignore")
    found = list(outcomes(fault, adapter, level, sender, case))
    sender.send(("found", case, "pass" if found and all(o.status == "pass" for o in found) else "fail"))


def in_a_child(target: Callable[..., None], *arguments: object) -> tuple[str, str, str]:
    """Case, what the child said of it, level; a crash or a hang is the answer of the case that was running."""
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=target, args=(*arguments, sender))
    child.start()
    sender.close()
    case, level, end = "", "", time.monotonic() + TIMEOUT
    try:
        while receiver.poll(max(0.0, end - time.monotonic())):
            kind, *rest = receiver.recv()
            if kind == "found":
                return rest[0], rest[1], level
            case, level = rest
        return case, "timeout", level
    except EOFError:
        child.join()
        return case, f"crash: {child.exitcode}", level
    finally:
        child.kill()
        child.join()


def judge(fault: Fault, subject: Subject, known: Verdict | None = None) -> Verdict:
    begin = time.monotonic()
    excluded: frozenset[str] = frozenset()
    while True:
        case, how, level = in_a_child(hunt, fault, subject, known, excluded)
        if not case:
            return Verdict(fault, "", how, level, time.monotonic() - begin)
        _, clean, _ = in_a_child(confirm, fault, subject.adapter, case, Level[level.upper()])
        alone, _, _ = in_a_child(hunt, fault, subject, Verdict(fault, case, how, level), frozenset())
        if clean == "pass" and alone:
            return Verdict(fault, case, how, level, time.monotonic() - begin)
        # It fails without the fault too, as a backend's unfinished operators do; or only after other cases.
        excluded |= {group_of(case)}


def judge_again(fault: Fault, subject: Subject, known: Verdict | None) -> Verdict:
    """By the known case, if there is one and it still finds the fault; else by all."""
    verdict = judge(fault, subject, known)
    return verdict if verdict.killed or known is None else judge(fault, subject)


def document(subject: Subject, verdicts: list[Verdict]) -> str:
    """The table of faults and of what finds them."""
    killed = sum(v.killed for v in verdicts)
    lines = [*subject.introduction.splitlines(), "", f"{killed} of {len(verdicts)} faults are found."]
    for kind in dict.fromkeys(v.fault.kind for v in verdicts):
        lines += ["", f"## {kind.capitalize()}", "", "| fault | found by | as | level |", "|---|---|---|---|"]
        for v in sorted((v for v in verdicts if v.fault.kind == kind), key=lambda v: v.fault.name):
            lines.append(
                f"| `{v.fault.name}` | {f'`{v.case}`' if v.killed else '**not found**'} | {v.how} | {v.level} |"
            )
    return "\n".join(lines) + "\n"


def read_document(path: pathlib.Path, faults: list[Fault]) -> dict[str, Verdict]:
    """The verdicts that the document states."""
    if not path.exists():
        return {}
    row = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| ([^|]*) \| (quick|full) \|$", re.MULTILINE)
    by_name = {fault.name: fault for fault in faults}
    found = row.findall(path.read_text())
    return {name: Verdict(by_name[name], case, how, level) for name, case, how, level in found if name in by_name}


def record(document_name: str, verdicts: list[Verdict]) -> None:
    """Notes the numbers of one subject in kill_rate.json, and the rate over all of them."""
    known = json.loads(KILL_RATE.read_text())["subjects"] if KILL_RATE.exists() else {}
    known[document_name] = {"faults": len(verdicts), "killed": sum(v.killed for v in verdicts)}
    faults, killed = (sum(row[key] for row in known.values()) for key in ("faults", "killed"))
    KILL_RATE.write_text(json.dumps({"kill_rate": killed / faults, "subjects": known}, indent=1) + "\n")


def main(subject: Subject) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default="*", help="pattern over the faults' names")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="writes the document and the kill rate")
    parser.add_argument("--check", action="store_true", help="only the cases that the document names")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for module in subject.adapter.imports:  # not `load`, which would use the device: children must be its first users
        importlib.import_module(module)
    faults = [fault for fault in subject.faults if fnmatch.fnmatchcase(fault.name, options.select)]
    for level in (Level.QUICK, Level.FULL):
        group_names(level)  # read once, before children are made
    with ThreadPoolExecutor(options.workers) as pool:
        known = read_document(subject.document, faults) if options.check or options.write else {}
        for name in [fault.name for fault in faults if options.check and fault.name not in known]:
            print(f"{subject.document.name} does not say what finds {name}; run this with --write")
            return 1
        jobs: list[Future[Verdict]] = [
            pool.submit(judge_again if options.write else judge, fault, subject, known.get(fault.name))
            for fault in faults
        ]
        verdicts = []
        for number, job in enumerate(jobs, 1):
            verdict = job.result()
            verdicts.append(verdict)
            found = f"{verdict.case} ({verdict.how})" if verdict.killed else f"NOT FOUND {verdict.how}"
            print(f"[{number}/{len(jobs)}] {verdict.fault.name}: {found}, {verdict.seconds:.0f} s", flush=True)
    counts = Counter(v.killed for v in verdicts)
    print(f"{counts[True]} of {len(verdicts)} faults found")
    if options.write:
        subject.document.write_text(document(subject, verdicts))
        record(subject.document.name, verdicts)
    return 0 if counts[False] == 0 and verdicts else 1


MOCK = """# What the suite finds

Written by `conformance/tests/kill.py`. The suite's own backend, `mock`, is PyTorch's CPU kernels under
another name; told to, it is wrong in one of the ways below, which reports of real backends show. Beside
each is a case that failed because of it and passes without it, and the level that it is of."""


def mock() -> Subject:
    """The suite's own backend."""
    import torch_mock

    return Subject(
        read_adapter(HERE.parent / "adapters" / "mock.toml", None, []),
        [Fault(*row) for row in torch_mock.faults()],
        torch_mock.switch_on,
        HERE.parents[1] / "docs" / "faults.md",
        MOCK,
    )


if __name__ == "__main__":
    sys.exit(main(mock()))

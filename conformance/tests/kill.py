"""Switches the mock backend's faults on, one after another, and shows that the suite finds each.

    TORCH_DEVICE_BACKEND_AUTOLOAD=0 python conformance/tests/kill.py [--select PATTERN] [--write | --check]

Each fault runs in a child of this process, in which everything is imported already. Cases are tried
group by group, at level quick and then at full, until one fails; that case must pass without the fault.
--write notes which case it was in docs/faults.md; --check runs only those cases, and requires that the
document names all faults.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
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
import torch_mock
from torch_conformance.adapter import Adapter, read_adapter
from torch_conformance.case import Level
from torch_conformance.execute import Outcome, Watch, run_group
from torch_conformance.manifest import group_of
from torch_conformance.oracle.defects import defect_of
from torch_conformance.provenance import Provenance
from torch_conformance.sources.catalogue import find_group, group_names

HERE = pathlib.Path(__file__).parent
ADAPTER = HERE.parent / "adapters" / "mock.toml"
DOCUMENT = HERE.parents[1] / "docs" / "faults.md"
KILL_RATE = HERE.parent / "torch_conformance" / "kill_rate.json"
TIMEOUT = 300.0
FORK = multiprocessing.get_context("fork")


@dataclasses.dataclass(frozen=True)
class Fault:
    """A row of the mock's tables: `cases` is the pattern that must find it."""

    name: str
    kind: str
    cases: str


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


def hunt(fault: Fault, adapter: Adapter, known: Verdict | None, sender: Connection) -> None:
    """In a child: reports the first case that does not pass, of all or of the known one."""
    warnings.simplefilter("ignore")
    torch_mock.switch_on(fault.name)
    for level in [Level[known.level.upper()]] if known else [Level.QUICK, Level.FULL]:
        for outcome in outcomes(fault, adapter, level, sender, known.case if known else ""):
            if outcome.status not in ("pass", "not-claimed"):
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


def judge(fault: Fault, adapter: Adapter, known: Verdict | None = None) -> Verdict:
    begin = time.monotonic()
    case, how, level = in_a_child(hunt, fault, adapter, known)
    if case and not how.startswith(("crash", "timeout")):
        _, clean, _ = in_a_child(confirm, fault, adapter, case, Level[level.upper()])
        if clean != "pass":
            case, how = "", f"{case} fails without the fault too"
    return Verdict(fault, case, how, level, time.monotonic() - begin)


def document(verdicts: list[Verdict]) -> str:
    """docs/faults.md."""
    killed = sum(v.killed for v in verdicts)
    lines = [
        "# What the suite finds",
        "",
        "Written by `conformance/tests/kill.py`. The suite's own backend, `mock`, is PyTorch's CPU kernels",
        "under another name; told to, it is wrong in one of the ways below, which reports of real backends show.",
        "Beside each is a case that failed because of it and passes without it, and the level that it is of.",
        "",
        f"{killed} of {len(verdicts)} faults are found.",
    ]
    for kind in dict.fromkeys(v.fault.kind for v in verdicts):
        lines += ["", f"## {kind.capitalize()}", "", "| fault | found by | as | level |", "|---|---|---|---|"]
        for v in sorted((v for v in verdicts if v.fault.kind == kind), key=lambda v: v.fault.name):
            lines.append(
                f"| `{v.fault.name}` | {f'`{v.case}`' if v.killed else '**not found**'} | {v.how} | {v.level} |"
            )
    return "\n".join(lines) + "\n"


def read_document(faults: list[Fault]) -> dict[str, Verdict]:
    """The verdicts that docs/faults.md states."""
    row = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| ([^|]*) \| (quick|full) \|$", re.MULTILINE)
    by_name = {fault.name: fault for fault in faults}
    found = row.findall(DOCUMENT.read_text())
    return {name: Verdict(by_name[name], case, how, level) for name, case, how, level in found if name in by_name}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default="*", help="pattern over the faults' names")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="writes docs/faults.md and the kill rate")
    parser.add_argument("--check", action="store_true", help="only the cases that docs/faults.md names")
    options = parser.parse_args()
    torch.set_num_threads(1)
    adapter = read_adapter(ADAPTER, None, [])
    faults = [Fault(*row) for row in torch_mock.faults()]
    faults = [fault for fault in faults if fnmatch.fnmatchcase(fault.name, options.select)]
    for level in (Level.QUICK, Level.FULL):
        group_names(level)  # read once, before children are made
    with ThreadPoolExecutor(options.workers) as pool:
        known = read_document(faults) if options.check else {}
        for name in [fault.name for fault in faults if options.check and fault.name not in known]:
            print(f"docs/faults.md does not say what finds {name}; run kill.py --write")
            return 1
        jobs: list[Future[Verdict]] = [pool.submit(judge, fault, adapter, known.get(fault.name)) for fault in faults]
        verdicts = []
        for number, job in enumerate(jobs, 1):
            verdict = job.result()
            verdicts.append(verdict)
            found = f"{verdict.case} ({verdict.how})" if verdict.killed else f"NOT FOUND {verdict.how}"
            print(f"[{number}/{len(jobs)}] {verdict.fault.name}: {found}, {verdict.seconds:.0f} s", flush=True)
    counts = Counter(v.killed for v in verdicts)
    print(f"{counts[True]} of {len(verdicts)} faults found")
    if options.write:
        DOCUMENT.write_text(document(verdicts))
        rate = counts[True] / max(1, len(verdicts))
        summary = {"faults": len(verdicts), "killed": counts[True], "kill_rate": rate}
        KILL_RATE.write_text(json.dumps(summary) + "\n")
    return 0 if counts[False] == 0 and verdicts else 1


if __name__ == "__main__":
    sys.exit(main())

"""A run of the suite: which cases, their outcomes, what is written about them."""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import json
import pathlib
import re
import shlex
import sys
from collections import Counter
from typing import Any

from .adapter import Adapter
from .case import Level
from .coverage import core, needing_a_kernel
from .environment import environment
from .execute import SUMMARY, Outcome
from .manifest import group_of
from .progress import Progress
from .scheduler import Job, Plan, Scheduler, SchedulerError, processes_for, resume
from .sources.catalogue import group_names
from .waivers import Waiver, apply_waivers


@dataclasses.dataclass
class Options:
    """What `run` was asked for."""

    adapter: Adapter
    table: dict[str, Any]
    level: Level = Level.QUICK
    select: str = "*"
    shard: tuple[int, int] = (1, 1)
    workers: int = 2
    timeout: float = 300.0
    output: pathlib.Path = pathlib.Path("conformance-results")
    resume: bool = False
    waivers: list[Waiver] = dataclasses.field(default_factory=list)
    arguments: list[str] = dataclasses.field(default_factory=list)
    """Of the command line, for reproducers: device, imports, adapter."""


class RunError(Exception):
    """The run can't start or go on; one line for the user."""


def reproducer(arguments: list[str], level: Level, case: str, mode: str) -> str:
    """A command that runs one case alone."""
    command = ["torch-conformance", "run", *arguments, "--level", level.name.lower(), "--select", case]
    return shlex.join(command if mode == "default" else [*command, "--mode", mode])


def chosen_groups(options: Options) -> list[str]:
    """Groups that may hold selected cases, of this shard."""
    names = group_names(options.level, options.adapter.float32_matmul)
    names = [name for name in names if _may_match(name, options.select)]
    index, count = options.shard
    return names[index - 1 :: count]


def _may_match(group: str, pattern: str) -> bool:
    """Whether a case of the group could match: a group is area.op.dtype, a case area.op.variant.dtype.aspect.n."""
    area, op, dtype = group.split(".")
    parts = pattern.split(".")
    if len(parts) == 6 and not any("*" in part and part != "*" for part in (parts[0], parts[1], parts[3])):
        return all(p in ("*", value) for p, value in ((parts[0], area), (parts[1], op), (parts[3], dtype)))
    head = re.split(r"[*?\[]", pattern)[0].split(".")
    last = len(head) - 1  # the only part that the pattern may have cut short
    pairs = enumerate(zip(head, (area, op), strict=False))
    return all(value == h or (i == last and value.startswith(h)) for i, (h, value) in pairs)


def kill_rate() -> float:
    """Share of the seeded faults that this version of the suite finds (docs/faults.md)."""
    text = pathlib.Path(__file__).with_name("kill_rate.json").read_text()
    return float(json.loads(text)["kill_rate"])


class Run:
    """Runs what `options` say and writes the results."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.outcomes: list[Outcome] = []
        self.digests: dict[str, dict[str, str]] = {}
        self.reached: set[str] = set()
        self.inputs: dict[str, str] = {}
        self.broken: list[str] = []
        self.today = datetime.datetime.now(datetime.UTC).date()

    @property
    def results_path(self) -> pathlib.Path:
        return self.options.output / "results.jsonl"

    def execute(self) -> dict[str, Any]:
        """All of it; returns the summary. Raises `RunError`."""
        options = self.options
        groups = chosen_groups(options)
        if not groups:
            raise RunError(f"no group of cases matches '{options.select}'; `torch-conformance list` prints all")
        options.output.mkdir(parents=True, exist_ok=True)
        done = self._resumed()
        jobs = self._jobs(groups, done)
        plan = Plan(
            options.adapter,
            options.table,
            options.level,
            jobs,
            options.timeout,
            options.workers,
            lambda case, mode: reproducer(options.arguments, options.level, case, mode),
        )
        self._write_header()
        scheduler = Scheduler(plan)
        progress = Progress(len(jobs))
        counts: Counter[str] = Counter(o.status for o in self.outcomes)
        try:
            with self.results_path.open("a") as results:
                for outcome in scheduler.run():
                    if outcome is None:
                        progress.update(scheduler.finished, counts)
                        continue
                    if not fnmatch.fnmatchcase(outcome.name, options.select):
                        continue
                    self._compare_modes(outcome)
                    apply_waivers(outcome, options.waivers, self.today)
                    results.write(outcome.line() + "\n")
                    results.flush()
                    self.outcomes.append(outcome)
                    counts[outcome.status] += 1
                    progress.update(scheduler.finished, counts)
        except SchedulerError as error:
            raise RunError(str(error)) from error
        finally:
            progress.close()
        self.reached |= scheduler.reached
        self.inputs = scheduler.inputs
        self.broken = scheduler.broken
        if not self.outcomes and not self.broken:
            raise RunError(f"no case matches '{options.select}'; `torch-conformance list --cases` prints all")
        return self.summary()

    def _jobs(self, groups: list[str], done: dict[str, set[str]]) -> list[Job]:
        jobs = []
        for modes in processes_for(self.options.adapter):
            names = tuple(mode.name for mode in modes)
            skip: dict[str, set[str]] = {}
            for case in set.intersection(*(done.get(mode, set()) for mode in names)) if done else set():
                skip.setdefault(group_of(case), set()).add(case)
            jobs += [Job(group, names, skip.get(group, set()), self._only(group)) for group in groups]
        return jobs

    def _only(self, group: str) -> list[str] | None:
        """A pattern without wildcards names one case."""
        pattern = self.options.select
        return [pattern] if not any(c in pattern for c in "*?[") else None

    def _resumed(self) -> dict[str, set[str]]:
        """Cases that an earlier run has results for, by mode."""
        if not self.options.resume:
            self.results_path.unlink(missing_ok=True)
            return {}
        if not self.results_path.exists():
            return {}
        header = self.options.output / "run.json"
        if header.exists():
            before = json.loads(header.read_text()).get("key")
            if before != self._key():
                raise RunError(f"{header} is of another run ({before}); use another --output, or leave out --resume")
        self.outcomes, problem = resume(self.results_path)
        if problem:
            print(problem, file=sys.stderr)
            self.results_path.write_text("".join(o.line() + "\n" for o in self.outcomes))
        done: dict[str, set[str]] = {}
        for outcome in self.outcomes:
            done.setdefault(outcome.mode, set()).add(outcome.name)
            self.digests.setdefault(outcome.name, {})[outcome.mode] = outcome.digest
        return done

    def _key(self) -> str:
        options = self.options
        shard = "/".join(map(str, options.shard))
        return f"{options.adapter.device} {options.level.name.lower()} {shard} {options.select}"

    def _write_header(self) -> None:
        header = {
            "key": self._key(),
            "device": self.options.adapter.device,
            "level": self.options.level.name.lower(),
            "select": self.options.select,
            "shard": list(self.options.shard),
            "adapter": self.options.table,
            "environment": environment(self.options.adapter),
            "waivers": [dict(dataclasses.asdict(w), expires=str(w.expires)) for w in self.options.waivers],
        }
        (self.options.output / "run.json").write_text(json.dumps(header, indent=1) + "\n")

    def _compare_modes(self, outcome: Outcome) -> None:
        """Modes that promise equal bits must have given them."""
        seen = self.digests.setdefault(outcome.name, {})
        if outcome.status in ("pass", "pass-by-fallback") and outcome.digest:
            for other in sorted(self.options.adapter.partners(outcome.mode)):
                if seen.get(other) and seen[other] != outcome.digest:
                    outcome.status, outcome.cause = "fail", "modes"
                    outcome.message = (
                        f"mode {outcome.mode} gave other bits than mode {other}, and both promise the same"
                    )
                    outcome.reproducer = reproducer(self.options.arguments, self.options.level, outcome.name, "default")
        seen[outcome.mode] = outcome.digest

    def summary(self) -> dict[str, Any]:
        """What summary.json holds."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        needed, mandatory = needing_a_kernel(), core()
        return {
            "device": self.options.adapter.device,
            "level": self.options.level.name.lower(),
            "modes": [mode.name for mode in self.options.adapter.modes],
            **{key: counts[status] for key, status in SUMMARY.items()},
            "broken_groups": len(self.broken),
            "overloads_reached": len(self.reached & needed),
            "overloads_total": len(needed),
            "core_reached": len(self.reached & mandatory),
            "core_total": len(mandatory),
            "kill_rate": kill_rate(),
        }

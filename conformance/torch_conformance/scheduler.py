"""Runs groups in worker processes: a crash or a hang costs one case, a kill costs nothing recorded."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import pathlib
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from .adapter import Adapter, Mode
from .case import Level
from .execute import Outcome


class SchedulerError(Exception):
    """The run can't go on; one line for the user."""


@dataclasses.dataclass
class Job:
    """A group in modes that share a process."""

    group: str
    modes: tuple[str, ...]
    skip: set[str] = dataclasses.field(default_factory=set)
    only: list[str] | None = None


@dataclasses.dataclass
class Plan:
    """What to run. `table` is the adapter as the workers read it."""

    adapter: Adapter
    table: dict[str, Any]
    level: Level
    jobs: list[Job]
    timeout: float
    workers: int
    reproducer: Callable[[str, str], str]


def processes_for(adapter: Adapter) -> list[tuple[Mode, ...]]:
    """Modes that can share a process: those without an environment, and each of the others alone."""
    plain = tuple(mode for mode in adapter.modes if not mode.environment)
    return ([plain] if plain else []) + [(mode,) for mode in adapter.modes if mode.environment]


class Worker:
    """One process and what it is at."""

    def __init__(self, plan: Plan, modes: tuple[str, ...]) -> None:
        self.modes = modes
        self.job: Job | None = None
        self.case = ""
        self.since = time.monotonic()
        self.done: set[str] = set()
        self.errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - as long as the process
        environment = dict(os.environ, PYTHONHASHSEED="0")
        for mode in plan.adapter.modes:
            if mode.name in modes:
                environment |= mode.environment
        self.process = subprocess.Popen(
            [sys.executable, "-m", "torch_conformance.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
        )
        self.unread = b""
        setup = {"adapter": plan.table, "source": plan.adapter.source, "modes": modes, "level": plan.level.name}
        self._send(setup)

    def _send(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has died; the scheduler sees its output end

    def give(self, job: Job) -> None:
        self.job = job
        self.case = f"{job.group}.generation.none.0"
        self.since = time.monotonic()
        self.done = set()
        request: dict[str, Any] = {"group": job.group, "skip": sorted(job.skip)}
        if job.only is not None:
            request["only"] = job.only
        self._send(request)

    def lines(self) -> list[bytes] | None:
        """What it has said since; None if it has died. (A buffered reader would keep lines that the
        selector knows nothing of.)"""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            return None
        *lines, self.unread = (self.unread + data).split(b"\n")
        return lines

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.errors.close()

    def last_words(self) -> str:
        self.errors.flush()
        self.errors.seek(0)
        return self.errors.read()[-1500:].strip()


class Scheduler:
    """Hands jobs to workers and yields outcomes as they come."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.waiting: dict[tuple[str, ...], collections.deque[Job]] = {}
        for job in plan.jobs:
            self.waiting.setdefault(job.modes, collections.deque()).append(job)
        self.selector = selectors.DefaultSelector()
        self.workers: list[Worker] = []
        self.broken: list[str] = []
        self.reached: set[str] = set()
        self.inputs: dict[str, str] = {}
        """Digest of each group's samples."""
        self.finished = 0
        """Jobs done."""

    def run(self) -> Iterator[Outcome | None]:
        """Outcomes as they come, and None now and then while there are none."""
        try:
            self._fill()
            while self.workers:
                for key, _ in self.selector.select(timeout=1.0):
                    yield from self._read(key.data)
                yield None
                for worker in list(self.workers):
                    if time.monotonic() - worker.since > self.plan.timeout:
                        yield from self._lost(worker, "timeout")
                self._fill()
        finally:
            for worker in self.workers:
                worker.stop()

    def _fill(self) -> None:
        while len(self.workers) < self.plan.workers:
            modes = next((m for m, jobs in self.waiting.items() if jobs), None)
            starting = sum(1 for w in self.workers if w.job is None)
            if modes is None or starting >= sum(map(len, self.waiting.values())):
                return
            worker = Worker(self.plan, modes)
            self.workers.append(worker)
            assert worker.process.stdout is not None
            self.selector.register(worker.process.stdout, selectors.EVENT_READ, worker)

    def _next(self, worker: Worker) -> None:
        jobs = self.waiting.get(worker.modes)
        if jobs:
            worker.give(jobs.popleft())
        else:
            worker.job = None
            self._dismiss(worker)

    def _dismiss(self, worker: Worker) -> None:
        assert worker.process.stdout is not None
        self.selector.unregister(worker.process.stdout)
        self.workers.remove(worker)
        worker.stop()

    def _read(self, worker: Worker) -> Iterator[Outcome]:
        lines = worker.lines()
        if lines is None:
            yield from self._lost(worker, "crash")
            return
        for line in lines:
            yield from self._take(worker, line)

    def _take(self, worker: Worker, line: bytes) -> Iterator[Outcome]:
        ((kind, value),) = json.loads(line).items()
        if kind == "refused":
            raise SchedulerError(value)
        if kind == "begin":
            worker.case, worker.since = value, time.monotonic()
        elif kind == "outcome":
            outcome = Outcome.parse(value)
            worker.done.add(outcome.name)
            if outcome.bad:
                outcome.reproducer = self.plan.reproducer(outcome.name, outcome.mode)
            yield outcome
        elif kind == "reached":
            self.reached |= set(value)
        elif kind == "inputs":
            self.inputs[value[0]] = value[1]
        elif kind == "broken":
            self.broken.append(value)
        if kind == "end":
            self.finished += 1
        if kind in ("ready", "end"):
            worker.since = time.monotonic()
            self._next(worker)

    def _lost(self, worker: Worker, how: str) -> Iterator[Outcome]:
        """The process died or hung in a case: that one has failed, the others run again."""
        job, case, words = worker.job, worker.case, worker.last_words()
        waited = time.monotonic() - worker.since
        self._dismiss(worker)
        code = worker.process.returncode
        if job is None:
            raise SchedulerError(f"a worker process ended with {code} before its first case: {words[-400:]}")
        message = f"no answer after {waited:.0f} s" if how == "timeout" else f"process ended with {code}; {words}"
        generation = case.endswith(".generation.none.0")
        if generation:
            self.broken.append(f"{job.group}: {how} while its samples were made: {message[-300:]}")
        else:
            for mode in job.modes:
                yield Outcome(case, mode, how, float("inf"), waited, "", how, message, self.plan.reproducer(case, mode))
        job.skip |= worker.done | {case}
        if not generation:
            self.waiting[job.modes].appendleft(job)


def resume(path: pathlib.Path) -> tuple[list[Outcome], str | None]:
    """Outcomes already in a results file. A line that a kill cut off is dropped; the text says so."""
    outcomes, problem = [], None
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        try:
            outcomes.append(Outcome.parse(line))
        except ValueError as error:
            problem = f"{path}: line {number} {error}; it runs again"
    return outcomes, problem

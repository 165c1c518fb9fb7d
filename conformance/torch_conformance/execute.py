"""Runs cases in this process and says what became of them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import math
import time
import traceback
from collections.abc import Callable, Iterator

import torch

from . import _core
from .adapter import MANDATORY_DTYPES, Adapter, Mode
from .case import Case, Group, Level, part
from .coverage import Reached, core
from .provenance import Provenance
from .trial import CheckError, NotApplicableError, NotClaimedError, Trial

BAD = ("fail", "crash", "timeout", "mistrusted")
"""Statuses that make a run fail."""
SUMMARY = {
    "passed": "pass",
    "failed": "fail",
    "crashed": "crash",
    "timeout": "timeout",
    "fallback": "pass-by-fallback",
    "waived": "waived",
    "not_claimed": "not-claimed",
    "mistrusted": "mistrusted",
}
"""Keys of summary.json, and the statuses that they count."""


@dataclasses.dataclass
class Outcome:
    """The Python face of core/outcome.h."""

    name: str
    mode: str
    status: str
    margin: float = 0.0
    seconds: float = 0.0
    digest: str = ""
    cause: str = ""
    message: str = ""
    reproducer: str = ""

    def line(self) -> str:
        return _core.to_json_line(**dataclasses.asdict(self))

    @staticmethod
    def parse(line: str) -> Outcome:
        """Raises `ValueError` that says what is wrong with the line."""
        return Outcome(**_core.from_json_line(line))

    @property
    def bad(self) -> bool:
        return self.status in BAD


Begin = Callable[[str], None]


def run_case(
    case: Case, group: Group, adapter: Adapter, device: torch.device, mode: Mode, provenance: Provenance | None = None
) -> tuple[Outcome, Trial] | None:
    """Runs `case` once; None if it turned out not to exist."""
    trial = Trial(device, adapter, mode.name)
    outcome = Outcome(case.name, mode.name, "pass")
    begin = time.perf_counter()
    try:
        with mode.enter(), provenance.watch(case.name) if provenance else contextlib.nullcontext():
            case.run(trial)
            trial.synchronize()
    except NotApplicableError:
        return None
    except NotClaimedError as reason:
        outcome.status, outcome.message = "not-claimed", str(reason)
    except CheckError as failure:
        outcome.status, outcome.cause, outcome.message = "fail", failure.cause, str(failure)
    except NotImplementedError as error:
        outcome.status, outcome.cause, outcome.message = "fail", "missing", _text(error)
    except MemoryError as error:
        outcome.status, outcome.cause, outcome.message = "fail", "memory", _text(error)
    except Exception as error:  # whatever the device raises is an answer
        missing = "is not implemented for" in str(error) or "Could not run" in str(error)
        outcome.status, outcome.cause = "fail", "missing" if missing else "exception"
        outcome.message = f"{type(error).__name__}: {_text(error)}{_where(error)}"
    outcome.seconds = time.perf_counter() - begin
    outcome.margin = math.inf if outcome.status == "fail" else trial.margin
    outcome.digest = trial.digest
    if outcome.status == "pass" and provenance and provenance.fallbacks:
        outcome.status = "pass-by-fallback"
        outcome.cause = "fallback"
        outcome.message = "computed by the host: " + ", ".join(sorted(provenance.fallbacks))
    return outcome, trial


@dataclasses.dataclass
class Watch:
    """What a run of groups is asked for beside outcomes."""

    begin: Begin = lambda _name: None
    wanted: Callable[[str], bool] = lambda _name: True
    provenance: Provenance | None = None
    reached: set[str] = dataclasses.field(default_factory=set)
    """Overloads that cases which passed have called on the device; their first case in each group tells."""
    inputs: str = ""
    """Digest of all samples of the last group, or empty where no database made any."""


def run_group(
    group: Group, adapter: Adapter, device: torch.device, level: Level, modes: list[Mode], watch: Watch | None = None
) -> Iterator[Outcome]:
    """All cases of a group in all modes."""
    watch = watch or Watch()
    done: list[tuple[Outcome, Trial]] = []
    watched: set[str] = set()
    watch.begin(f"{group.name}.generation.none.0")
    samples: list[str] = []
    for case in group.make(level):
        if case.inputs:
            samples.append(f"{case.name} {case.inputs}")
        if not watch.wanted(case.name):
            continue
        variant = ".".join(case.name.split(".")[2:5:2])
        for mode in modes:
            watch.begin(case.name)
            if not is_claimed(adapter, group, case):
                yield Outcome(case.name, mode.name, "not-claimed")
                continue
            first = variant not in watched  # provenance and coverage cost more than the case
            ran = run_case(case, group, adapter, device, mode, watch.provenance if first else None)
            if ran is None:
                continue
            if first and ran[0].status == "pass":
                watch.reached |= _reached_by(case, adapter, device, mode)
            watched.add(variant)
            done.append(ran)
    watch.inputs = hashlib.blake2b("\n".join(samples).encode(), digest_size=6).hexdigest() if samples else ""
    yield from _trusted(group, done)


def _reached_by(case: Case, adapter: Adapter, device: torch.device, mode: Mode) -> set[str]:
    """Overloads that the case calls. It runs once more for this: composite operators can take another
    way, to other bits, while a dispatch mode watches them."""
    with contextlib.suppress(Exception), mode.enter(), Reached(device) as reached:
        case.run(Trial(device, adapter, mode.name))
    return reached.names


def is_claimed(adapter: Adapter, group: Group, case: Case) -> bool:
    """Whether the device answers for the case: it claims it, or can't leave it out."""
    op = part(group.op)
    mandatory = group.area == "op" and group.dtype in MANDATORY_DTYPES and op in mandatory_operators()
    return mandatory or adapter.claims.covers(op, group.dtype, case.features)


@functools.cache
def mandatory_operators() -> frozenset[str]:
    """Names of the operators with a core overload."""
    return frozenset(part(name.removeprefix("aten::").split(".")[0]) for name in core())


def _trusted(group: Group, done: list[tuple[Outcome, Trial]]) -> Iterator[Outcome]:
    """Passing means nothing where no wrong result could have been seen: all results of all samples
    were 0 or NaN, or the same whatever the input was."""
    compared = [(o, t) for o, t in done if o.status.startswith("pass") and o.digest]
    void = bool(compared) and not any(t.informative for _, t in compared)
    pairs = {(t.inputs, o.digest) for o, t in compared if t.inputs}
    if len(pairs) > 2 and len({digest for _, digest in pairs}) == 1:
        void = True
    for outcome, _ in done:
        if void and not group.constant and outcome.status.startswith("pass") and outcome.digest:
            outcome.status = "mistrusted"
            outcome.message = "all results of this operator were 0, NaN or independent of their input"
        yield outcome


def _text(error: BaseException) -> str:
    return str(error)[:1500]


def _where(error: BaseException) -> str:
    """The suite's own line that failed, where the error came out of it."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].name}:{frames[-1].lineno})" if frames else ""

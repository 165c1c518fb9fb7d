"""Cases, groups of cases, and their names."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from .trial import Trial


class Level(enum.IntEnum):
    """How much of the suite runs."""

    QUICK = 0
    FULL = 1
    EXHAUSTIVE = 2


def part(text: str) -> str:
    """`text` as one part of a case name: dots separate parts."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", text.replace(".", "-")) or "none"


@dataclasses.dataclass(frozen=True)
class Case:
    """`name` is area.op.variant.dtype.aspect.n, stable over runs and devices."""

    name: str
    run: Callable[[Trial], None]
    features: tuple[str, ...] = ()
    """What of a device's claims it needs besides operator and dtype."""
    inputs: str = ""
    """Digest of the sample that a database made for it, or empty: the same in each process."""


@dataclasses.dataclass(frozen=True)
class Group:
    """Cases that are generated together, of one operator and dtype.

    `overloads` are the ATen operators that it exists for, where that is known.
    """

    area: str
    op: str
    dtype: str
    make: Callable[[Level], Iterable[Case]]
    weight: float = 1.0
    constant: str = ""
    """Why the results may all be zero or equal, or empty if that would mean the checks are void."""

    @property
    def name(self) -> str:
        return f"{part(self.area)}.{part(self.op)}.{part(self.dtype)}"

    def case_name(self, variant: str, aspect: str, number: int) -> str:
        return f"{part(self.area)}.{part(self.op)}.{part(variant)}.{part(self.dtype)}.{part(aspect)}.{number}"


class Source(Protocol):
    """Where cases come from."""

    def groups(self, level: Level) -> Iterator[Group]:
        """All groups of the level, without generating their cases."""
        ...

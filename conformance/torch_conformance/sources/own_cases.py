"""Cases of the suite's own, where PyTorch's databases are blind: a function a case.

    @own("views.select.write.base", dtypes=FLOATS)
    def write_to_a_row(t, dtype):
        ...

makes the cases views.select.write.<dtype>.base.0. The function gets the trial and the dtype; what it
raises, or what its checks find, is the outcome.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch

from .. import families
from ..case import Case, Group, Level, part
from ..tensors import dtype_name
from ..trial import Trial

Body = Callable[..., None]
"""Of a trial and a dtype, which is None where the case has none."""


@dataclasses.dataclass(frozen=True)
class _Entry:
    area: str
    op: str
    variant: str
    aspect: str
    dtypes: tuple[torch.dtype | None, ...]
    level: Level
    features: tuple[str, ...]
    body: Body


_entries: list[_Entry] = []


def own(
    name: str,
    dtypes: Sequence[torch.dtype | None] = (torch.float32,),
    level: Level = Level.QUICK,
    features: Sequence[str] = (),
) -> Callable[[Body], Body]:
    """Registers a case body as area.operator.variant.aspect. A dtype of None is called "none"."""
    area, op, variant, aspect = name.split(".")

    def register(body: Body) -> Body:
        _entries.append(_Entry(area, op, variant, aspect, tuple(dtypes), level, tuple(features), body))
        return body

    return register


def _load() -> None:
    if not _entries:
        for module in pkgutil.iter_modules(families.__path__):
            importlib.import_module(f"{families.__name__}.{module.name}")


def groups(level: Level) -> Iterator[Group]:
    """One for each operator and dtype that a family has cases for at the level."""
    _load()
    found: dict[tuple[str, str, str], list[_Entry]] = {}
    for entry in _entries:
        if entry.level > level:
            continue
        for chosen in entry.dtypes:
            name = dtype_name(chosen) if chosen is not None else "none"
            found.setdefault((entry.area, entry.op, name), []).append(entry)
    for (area, op, dtype), entries in found.items():
        yield _group(area, op, dtype, entries)


def features() -> list[str]:
    """All features that cases ask of a device."""
    _load()
    return sorted({feature for entry in _entries for feature in entry.features})


def _group(area: str, op: str, dtype: str, entries: list[_Entry]) -> Group:
    def make(_level: Level) -> Iterable[Case]:
        for entry in entries:
            chosen = next(d for d in entry.dtypes if (dtype_name(d) if d is not None else "none") == dtype)

            def run(t: Trial, body: Body = entry.body, d: torch.dtype | None = chosen) -> None:
                t.informative = True  # these assert values that no constant has
                body(t, d)

            name = ".".join(map(part, (area, op, entry.variant, dtype, entry.aspect)))
            yield Case(f"{name}.0", run, entry.features)

    return Group(area, op, dtype, make, constant="asserts values")

"""Which operators the host computed for the device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from .adapter import Adapter, resolve

_COPIES = ("aten::_copy_from", "aten::_copy_from_and_resize")
"""What a copy between host and device comes down to, for an external device."""
_AROUND = (
    "aten::to",
    "aten::_to_copy",
    "aten::copy_",
    "aten::empty",
    "aten::detach",
    "aten::resize_",
    "aten::as_strided",
)
"""What else a fallback calls, by how the names begin; what computes with more is no fallback."""


class Provenance:
    """Watches cases; `fallbacks` holds the operators that the host computed in the last one."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.fallbacks: set[str] = set()

    @contextlib.contextmanager
    def watch(self, _case: str) -> Iterator[None]:
        self.fallbacks = set()
        how = self.adapter.provenance
        if how == "none" or self.adapter.device == "cpu":
            yield
        elif how == "profiler":
            with torch.autograd.profiler.profile(use_kineto=True) as profile:
                yield
            self.fallbacks = fallbacks_in(profile.function_events)
        else:
            names = resolve(how, "provenance")
            names()
            yield
            self.fallbacks = set(names())


def fallbacks_in(events: Any) -> set[str]:
    """Operators that the host computed, as the profiler sees it: PyTorch's CPU fallback calls
    `_to_cpu`; one of a vendor's own calls the operator again, between copies there and back, and
    nothing else. A composite operator too calls another overload of its name, but does other things."""
    found = set()
    for event in events:
        children = list(event.cpu_children)
        names = [child.name for child in children]
        again = names.index(event.name) if event.name in names else 0
        only_copies = all(name == event.name or name.startswith(_COPIES + _AROUND) for name in names)
        wrapped = only_copies and _copies(children[:again]) and _copies(children[again + 1 :])
        if "aten::_to_cpu" in names or wrapped:
            found.add(event.name)
    return found


def _copies(events: list[Any]) -> bool:
    return any(event.name in _COPIES or _copies(list(event.cpu_children)) for event in events)

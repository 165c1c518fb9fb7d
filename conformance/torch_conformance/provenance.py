"""Which operators the host computed for the device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from .adapter import Adapter, resolve

_COPIES = (
    "aten::_to_copy",
    "aten::to",
    "aten::_copy_from",
    "aten::copy_",
    "aten::_copy_from_and_resize",
    "aten::_to_cpu",
)


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
    """Operators that were called again, on the CPU, inside of themselves, beside copies: what
    PyTorch's CPU fallback looks like to the profiler, for any backend that uses it."""
    found = set()
    for event in events:
        inner = [child.name for child in event.cpu_children]
        if event.name in inner and any(copy in inner for copy in _COPIES):
            found.add(event.name)
    return found

"""Ratios of times, both sides alternately in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

Thunk = Callable[[], object]


def settle(fn: Thunk) -> None:
    """Waits until the other side's threads sleep (OpenMP's poll for some milliseconds after their
    last work, on cores that this side needs) and this side's are awake."""
    time.sleep(0.02)
    fn()
    torch.accelerator.synchronize()


def seconds(fn: Thunk, calls: int) -> float:
    """Time of `calls` calls, until the device is done with them."""
    settle(fn)
    begin = time.perf_counter()
    for _ in range(calls):
        fn()
    torch.accelerator.synchronize()
    return (time.perf_counter() - begin) / calls


def host_seconds(fn: Thunk, calls: int) -> float:
    """Time on the calling thread alone; the device catches up outside of it."""
    settle(fn)
    begin = time.perf_counter()
    for _ in range(calls):
        fn()
    elapsed = time.perf_counter() - begin
    torch.accelerator.synchronize()
    return elapsed / calls


def ratio(ours: Thunk, theirs: Thunk, pairs: int = 7, budget: float = 4.0, timer=seconds) -> float:
    """Median over alternating pairs of our time / theirs."""
    for fn in (ours, theirs):
        fn()
    torch.accelerator.synchronize()
    once = max(timer(ours, 1), timer(theirs, 1), 1e-7)
    calls = max(1, min(2000, int(budget / (2 * pairs) / once)))
    return statistics.median(timer(ours, calls) / timer(theirs, calls) for _ in range(pairs))

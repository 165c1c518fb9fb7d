"""The device's memory: counted, given back, and refused with the right error."""

from __future__ import annotations

import gc

import torch

from ..sources.own_cases import own
from ..trial import NotClaimedError, Trial

MIB = 1 << 20


def _in_use(t: Trial) -> int:
    gc.collect()
    t.synchronize()
    used = t.adapter.memory_in_use()
    if used is None:
        raise NotClaimedError("the device does not say how much memory is in use")
    return used


@own("accounting.allocated.grows.bytes", features=("memory_statistics",))
def tensors_count(t: Trial, dtype: torch.dtype) -> None:
    before = _in_use(t)
    x = torch.ones(4 * MIB, device=t.device)
    during = _in_use(t)
    t.require(during - before >= 16 * MIB, "value", f"16 MiB of tensors count as {during - before} bytes")
    t.require(during - before <= 64 * MIB, "value", f"16 MiB of tensors count as {during - before} bytes")
    del x
    t.require(abs(_in_use(t) - before) <= MIB, "leak", f"{_in_use(t) - before} bytes stayed")


@own("accounting.views.nothing.bytes", features=("memory_statistics",))
def views_cost_nothing(t: Trial, dtype: torch.dtype) -> None:
    x = torch.ones(4 * MIB, device=t.device)
    before = _in_use(t)
    kept = [x.view(2, -1)[1, i:] for i in range(50)]
    t.require(_in_use(t) - before <= MIB, "leak", f"50 views cost {_in_use(t) - before} bytes")
    del kept


@own("accounting.training.no_leak.bytes", features=("memory_statistics",))
def training_does_not_leak(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)).to(t.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.ones(512, 256, device=t.device)).pow(2).mean().backward()
        optimizer.step()

    for _ in range(3):
        step()
    before = _in_use(t)
    for _ in range(20):
        step()
    t.require(_in_use(t) - before <= MIB, "leak", f"20 steps leaked {_in_use(t) - before} bytes")


@own("accounting.errors.no_leak.bytes", features=("memory_statistics",))
def errors_do_not_leak(t: Trial, dtype: torch.dtype) -> None:
    def mistake() -> None:
        torch.ones(MIB, device=t.device) + torch.ones(MIB + 1, device=t.device)

    t.raises(RuntimeError, mistake)
    before = _in_use(t)
    for _ in range(10):
        t.raises(RuntimeError, mistake)
    t.require(_in_use(t) - before <= MIB, "leak", f"10 errors leaked {_in_use(t) - before} bytes")


@own("accounting.too_much.refused.error", features=("memory_statistics",))
def more_than_there_is(t: Trial, dtype: torch.dtype) -> None:
    if t.device.type == "cpu":
        raise NotClaimedError("a host overcommits")
    t.raises((RuntimeError, MemoryError), lambda: torch.empty(1 << 50, dtype=torch.uint8, device=t.device))
    t.equal(torch.ones(3, device=t.device) * 2, torch.full((3,), 2.0))

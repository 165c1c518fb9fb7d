"""Autocast: which operators run in the lower precision, and what comes out of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from ..sources.own_cases import own
from ..trial import Trial
from . import numbers

LOWER: dict[str, Callable[[Any], torch.Tensor]] = {
    "mm": lambda d: numbers(d, 3, 4) @ numbers(d, 4, 2),
    "bmm": lambda d: torch.bmm(numbers(d, 2, 3, 4), numbers(d, 2, 4, 2)),
    "linear": lambda d: F.linear(numbers(d, 3, 4), numbers(d, 2, 4), numbers(d, 2)),
    "conv2d": lambda d: F.conv2d(numbers(d, 1, 2, 4, 4), numbers(d, 2, 2, 3, 3)),
    "addmm": lambda d: torch.addmm(numbers(d, 2), numbers(d, 3, 4), numbers(d, 4, 2)),
}


def _define(name: str, operator: Callable[[Any], torch.Tensor]) -> None:
    @own(f"autocast.{name}.lower.dtype", features=("autocast",))
    def lower(t: Trial, dtype: torch.dtype) -> None:
        with torch.autocast(t.device.type, dtype=torch.bfloat16):
            got = operator(t.device)
        t.require(got.dtype == torch.bfloat16, "dtype", f"{got.dtype} under autocast, expected bfloat16")
        want = operator("cpu").double()
        t.require(
            bool(((got.cpu().double() - want).abs() <= want.abs() * 2.0**-6).all()), "value", f"{got}, expected {want}"
        )
        t.require(operator(t.device).dtype == torch.float32, "dtype", "autocast did not end with its context")
        with torch.autocast(t.device.type, dtype=torch.bfloat16, enabled=False):
            t.require(operator(t.device).dtype == torch.float32, "dtype", "enabled=False")


for _name, _operator in LOWER.items():
    _define(_name, _operator)


@own("autocast.loss.float32.dtype", features=("autocast",))
def losses_are_float32(t: Trial, dtype: torch.dtype) -> None:
    """On every device's list: a loss of narrow numbers is computed in float32."""
    x, y = numbers(t.device, 300).bfloat16(), numbers(t.device, 300).bfloat16() * 2
    with torch.autocast(t.device.type, dtype=torch.bfloat16):
        got = F.mse_loss(x, y)
    t.equal(got, F.mse_loss(x.cpu().float(), y.cpu().float()))


@own("autocast.training.step.value", features=("autocast",))
def training_step(t: Trial, dtype: torch.dtype) -> None:
    """Parameters and gradients stay float32, activations don't."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(8, 4).to(t.device)
    with torch.autocast(t.device.type, dtype=torch.bfloat16):
        out = layer(torch.ones(2, 8, device=t.device))
        loss = F.cross_entropy(out.float(), torch.tensor([1, 3], device=t.device))
    loss.backward()
    assert layer.weight.grad is not None
    t.require(out.dtype == torch.bfloat16 and layer.weight.grad.dtype == torch.float32, "dtype", f"{out.dtype}")
    t.require(
        bool(torch.isfinite(layer.weight.grad).all()) and bool((layer.weight.grad != 0).any()), "value", "gradient"
    )


@own("autocast.nested.inner.dtype", features=("autocast",))
def nested(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 3, 3)
    with torch.autocast(t.device.type, dtype=torch.bfloat16):
        a = x @ x
        with torch.autocast(t.device.type, enabled=False):
            b = x @ x
        c = x @ x
    t.require(
        (a.dtype, b.dtype, c.dtype) == (torch.bfloat16, torch.float32, torch.bfloat16), "dtype", "nested contexts"
    )


@own("autocast.scaler.step.value", features=("autocast",))
def gradient_scaler(t: Trial, dtype: torch.dtype) -> None:
    """A step with infinite gradients is left out and the scale halved."""
    weight = torch.ones(3, device=t.device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler(t.device.type, init_scale=8.0)
    scaler.scale((weight * 2).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    t.equal(weight.detach(), torch.full((3,), -1.0))
    optimizer.zero_grad()
    scaler.scale((weight * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    t.equal(weight.detach(), torch.full((3,), -1.0))
    t.require(scaler.get_scale() == 4.0, "value", f"scale {scaler.get_scale()}, expected 4")

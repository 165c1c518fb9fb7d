"""How much may rounding move a result? Measured, not guessed.

A model runs in float64 while the inputs and outputs of each of its leaf modules, forward and
backward, are multiplied by 1 + u * e with e uniform in [-1, 1]: the effect of a rounding of unit
roundoff u at each of these places. The spread of a result over several such runs is what a
correct implementation in that arithmetic may deviate by; a bound is a fixed multiple of it. An
ill-conditioned component gets a wide bound, a well-conditioned one a narrow bound, and nobody
widens either by hand.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

FLOAT32_ROUNDOFF = 2.0**-24
"""Unit roundoff of float32, round to nearest."""
BFLOAT16_ROUNDOFF = 2.0**-9
"""Unit roundoff of bfloat16 (8 significand bits), round to nearest."""

SAFETY = 16.0
"""Bound over spread. A leaf module is several roundings (a product of length K accumulates about
sqrt(K) of them), and the largest of n samples lies a few spreads out."""


def _noisy(value: Any, roundoff: float, generator: torch.Generator) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        noise = torch.rand(value.shape, generator=generator, dtype=torch.float64) * 2 - 1
        return value * (1 + roundoff * noise).to(value.dtype)
    if isinstance(value, tuple):
        items = (_noisy(item, roundoff, generator) for item in value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


@contextlib.contextmanager
def rounding_noise(model: nn.Module, roundoff: float, seed: int) -> Iterator[None]:
    """While active, the leaf modules of `model` compute with noise of relative size `roundoff`."""
    generator = torch.Generator().manual_seed(seed)

    def before(_module: nn.Module, arguments: Any) -> Any:
        return _noisy(arguments, roundoff, generator)

    def after(_module: nn.Module, _arguments: Any, output: Any) -> Any:
        return _noisy(output, roundoff, generator)

    def backward(_module: nn.Module, grad_input: Any, _grad_output: Any) -> Any:
        return tuple(_noisy(g, roundoff, generator) for g in grad_input)

    handles = []
    for module in model.modules():
        if next(module.children(), None) is None:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after))
            handles.append(module.register_full_backward_hook(backward))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


Results = dict[str, torch.Tensor]
Noise = Callable[[nn.Module], contextlib.AbstractContextManager[None]]


def reference_and_bounds(
    compute: Callable[[Noise], Results],
    roundoff: float,
    runs: int = 6,
) -> tuple[Results, Results]:
    """The float64 results of `compute`, and for each component how far it may lie from them.

    `compute(noise)` builds its model, runs it inside `noise(model)` and returns named results.
    """
    exact = compute(lambda _model: contextlib.nullcontext())
    spread = {name: torch.zeros_like(value) for name, value in exact.items()}
    for run in range(runs):
        moved = compute(functools.partial(rounding_noise, roundoff=roundoff, seed=run))
        for name, value in moved.items():
            spread[name] = torch.maximum(spread[name], (value - exact[name]).abs())
    bounds = {}
    for name, value in spread.items():
        # A component that six runs happened not to move is still no more exact than its tensor.
        typical = value.mean() if value.numel() else value
        floor = roundoff * exact[name].abs()
        bounds[name] = SAFETY * (value + typical + floor)
    return exact, bounds

"""How far may rounding errors move a result? Estimated by making them.

An operator runs in float64 on the CPU while every leaf operator inside of it is disturbed: by as
much as a correct implementation in the device's arithmetic may round there. The largest change of a
result over a few such runs is its *spread*; core/tolerance.h turns it into a bound. An
ill-conditioned component gets a wide bound and a well-conditioned one a narrow bound, and nobody
widens either by hand. docs/tolerances.md has the derivation.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._library.custom_ops import OPDEFS
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from .arithmetic import (
    PRODUCTS_INSIDE,
    Rounding,
    accumulates,
    depth_of,
    fan_in,
    fills_inexactly,
    is_narrow,
    is_representable,
    is_view,
    rounding_of,
)
from .reference import undisturbed

FLOAT32_ROUNDOFF = 2.0**-24
SERIES_ROUNDINGS = 4
"""Of special functions: four times an ordinary function's. OpenCL allows pow 16 ULP, and has none of these."""
RUNS = (4, 32)
"""Disturbed runs: the largest of four uniform draws is above half of the range with probability 15/16. A result
that this does not explain gets more: jumps (a bin's edge, a floor) show in few of them."""
LARGE, RUNS_OF_LARGE = 1_000_000, (4, 24)
"""Of more components than that fewer runs are made: they take seconds each."""


@dataclasses.dataclass(frozen=True)
class Arithmetic:
    """What the device computes with, as unit roundoffs."""

    result: float
    """of the results' dtype: of each intermediate that a decomposition stores"""
    inner: float
    """inside of a leaf: float32's or better (an accumulator is no narrower than that)"""
    product: float
    """of the operands of products: the declared matmul precision"""
    underflow: float
    """half of the smallest number, or the smallest normal one where subnormals are flushed"""
    largest: float
    """the largest number: between operators nothing greater is kept"""


def arithmetic_for(dtype: torch.dtype, float32_matmul: str, flushes: bool = False) -> Arithmetic:
    """For a device whose float32 products are formed as `float32_matmul` says."""
    roundoff = torch.finfo(dtype).eps / 2
    inner = min(roundoff, FLOAT32_ROUNDOFF)
    operands = {"float32": FLOAT32_ROUNDOFF, "tf32": 2.0**-11, "bfloat16x3": 2.0**-16, "bfloat16": 2.0**-9}
    narrow = dtype in (torch.float32, torch.complex64)
    numbers = torch.finfo(dtype)
    underflow = numbers.tiny if flushes else numbers.tiny * numbers.eps / 2
    product = operands[float32_matmul] if narrow else inner
    return Arithmetic(roundoff, inner, product, underflow, numbers.max)


class RoundingNoise(TorchDispatchMode):
    """While active, float64 operators on the CPU round as `arithmetic` does, at random."""

    def __init__(self, arithmetic: Arithmetic, seed: int) -> None:
        super().__init__()
        self.arithmetic = arithmetic
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self, op: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if is_view(op) or any(t.is_meta for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)):
            return op(*args, **kwargs)
        if op.namespace not in ("aten", "prims") and (kernel := _python_kernel(op)) is not None:
            with self:
                return kernel(*args, **kwargs)
        if torch.Tag.pointwise in op.tags or op._opname.startswith("_foreach_"):
            args = tree_map_only(float, self._rounded_number, args)
        rounding = Rounding.LINEAR if accumulates(op, args, kwargs) else rounding_of(op)
        if fills_inexactly(op, args, self.arithmetic.result):
            rounding = Rounding.ELEMENTARY
        if rounding is Rounding.EXACT:
            return op(*args, **kwargs)
        narrow = is_narrow(op, args, kwargs)
        decomposed = rounding is Rounding.ELEMENTARY and not narrow and not op._schema.is_mutable
        if decomposed and op in decomposition_table:
            with self:
                out = decomposition_table[op](*args, **kwargs)
            if out is not NotImplemented:
                return out
        inner = self.arithmetic.result if narrow else self.arithmetic.inner
        return self._leaf(op, rounding, inner, args, kwargs)

    def _leaf(self, op: Any, rounding: Rounding, inner: float, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        written = {id(value) for argument, value in zip(op._schema.arguments, args, strict=False) if _writes(argument)}
        written |= {id(kwargs[a.name]) for a in op._schema.arguments if _writes(a) and a.name in kwargs}
        inputs = [t for t in tree_flatten((args, kwargs))[0] if _is_float(t) and id(t) not in written]
        scale: list[torch.Tensor] | None = None
        if rounding in (Rounding.LINEAR, Rounding.PRODUCT) and not op._schema.is_mutable:
            scale = self._sum_of_moduli(op, args, kwargs)
        if scale is None:
            amount = inner
            if rounding is Rounding.PRODUCT:
                amount = max(amount, self.arithmetic.product)
            growth = math.sqrt(self._growth(op, rounding, inputs))
            shaken = tree_map_only(
                torch.Tensor,
                lambda t: t if id(t) in written else self._disturb(t, amount * growth, rounding),
                (args, kwargs),
            )
            args, kwargs = shaken
            if rounding is Rounding.COORDINATES:
                args = self._move_grid(op, amount, args)
        out = op(*args, **kwargs)
        results = [t for t in tree_flatten(out)[0] if _is_float(t)]
        roundoff = self.arithmetic.result * (SERIES_ROUNDINGS if rounding is Rounding.SERIES else 1)
        for number, result in enumerate(results):
            if not _is_writable(result):
                continue
            with torch.no_grad():
                result.mul_(1 + roundoff * self._draw(result))
                result.add_(self.arithmetic.underflow * self._draw(result))
                if rounding in (Rounding.COORDINATES, Rounding.CANCELLING):
                    numbers = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)]
                    result.add_(self._draw(result) * self._absolute_error(op, rounding, inner, numbers))
                if op._opname in PRODUCTS_INSIDE and result.numel():
                    result.add_(self.arithmetic.product * float(result.abs().amax()) * self._draw(result))
                if scale is not None:
                    error = self._sum_error(op, rounding, inner, args, [result])
                    result.add_(self._draw(result) * scale[number] * error)
                if not result.is_complex():
                    result.masked_fill_(result > self.arithmetic.largest, math.inf)
                    result.masked_fill_(result < -self.arithmetic.largest, -math.inf)
        return out

    def _rounded_number(self, number: float) -> float:
        """A Python number may meet a tensor in the tensor's dtype, as PyTorch's promotion says."""
        if is_representable(number, self.arithmetic.result):
            return number
        return number * (1 + self.arithmetic.result * float(self._draw(torch.zeros(()))))

    def _move_grid(self, op: Any, amount: float, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Positions in [-1, 1] become pixels by ((x + 1) n - 1) / 2: each step rounds a number of up to n, so a
        position in the middle is no better known than one at the border."""
        names = [argument.name for argument in op._schema.arguments]
        if "grid" not in names:
            return args
        at = names.index("grid")
        moved = args[at] + 2 * amount * self._draw(args[at])
        return (*args[:at], moved, *args[at + 1 :])

    @staticmethod
    def _growth(op: Any, rounding: Rounding, inputs: list[torch.Tensor]) -> float:
        if rounding is Rounding.NORMWISE:
            return float(max((max(t.shape[-2:], default=1) for t in inputs if t.dim()), default=1))
        if torch.Tag.pointwise in op.tags:
            return 1.0
        return float(min(max((t.numel() for t in inputs), default=1), 10_000))

    def _sum_of_moduli(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor] | None:
        """The same sums of absolute values; none where the operator does not take them."""
        moduli = tree_map_only(torch.Tensor, lambda t: t.abs() if _is_real_float(t) else t, (args, kwargs))
        if any(t.is_complex() for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)):
            return None
        try:
            out = op(*moduli[0], **moduli[1])
        except (RuntimeError, NotImplementedError):
            return None
        return [t.abs() for t in tree_flatten(out)[0] if _is_float(t)]

    def _sum_error(
        self, op: Any, rounding: Rounding, inner: float, args: tuple[Any, ...], results: list[torch.Tensor]
    ) -> float:
        """In units of the sum of moduli."""
        if rounding is Rounding.LINEAR:
            inputs = [t for t in tree_flatten(args)[0] if _is_float(t)]
            return inner * math.sqrt(fan_in(inputs, results))
        depth = depth_of(op, args, results)
        # Roundings of operands are independent: their sum grows like the root of its length, while
        # the sum of moduli grows like its length.
        operands = math.sqrt(2.0) * self.arithmetic.product / math.sqrt(depth)
        return inner * math.sqrt(depth) + operands

    @staticmethod
    def _absolute_error(op: Any, rounding: Rounding, inner: float, inputs: list[torch.Tensor]) -> float:
        largest = [float(_wide(t).abs().amax()) for t in inputs if t.numel()]
        if not largest or not all(map(math.isfinite, largest)):
            return inner
        if rounding is Rounding.CANCELLING:
            return inner * math.prod(max(x, 1.0) for x in largest[:2]) * max(inputs[0].shape, default=1) ** 0.5
        # A position of up to n is off by n u: so is a weight, and the result by that of the values.
        size = max((max(t.shape[2:], default=1) for t in inputs if t.dim() > 2), default=1)
        if "grid_sampler" in op._opname and "backward" in op._opname:
            # By a coordinate in [-1, 1], so n / 2 pixels: a difference of pixels times the gradient.
            return inner * size * size / 2 * max(largest[0], 1.0) * max(largest[1], 1.0)
        return inner * size * max(largest)

    def _disturb(self, tensor: torch.Tensor, amount: float, rounding: Rounding) -> torch.Tensor:
        if rounding is Rounding.SERIES and not tensor.is_floating_point() and not tensor.is_complex():
            tensor = tensor.double()
        if not _is_float(tensor) or tensor.numel() == 0:
            return tensor
        noise = amount * self._draw(tensor)
        if rounding is Rounding.NORMWISE:
            # Rectangular or batched, one norm serves: the largest entry.
            largest = tensor.abs().amax() if tensor.numel() else tensor
            if bool(torch.isfinite(largest)):
                return tensor + noise * largest
        return tensor * (1 + noise)

    def _draw(self, like: torch.Tensor) -> torch.Tensor:
        """Uniform in [-1, 1]; of a complex tensor both parts, as its errors have any direction."""
        parts = [torch.rand(like.shape, generator=self.generator, dtype=torch.float64) * 2 - 1]
        if like.is_complex():
            parts.append(torch.rand(like.shape, generator=self.generator, dtype=torch.float64) * 2 - 1)
        return torch.complex(*parts) if like.is_complex() else parts[0]


def _python_kernel(op: Any) -> Callable[..., Any] | None:
    """What a custom operator that is written in Python runs: its own operators round, not it."""
    definition = OPDEFS.get(f"{op.namespace}::{op._opname}")
    return definition._init_fn if definition is not None else None


def _is_writable(result: torch.Tensor) -> bool:
    """Whether each element has memory of its own: neither PyTorch's zeros without memory nor an expanded tensor."""
    return result.numel() > 0 and not result._is_zerotensor() and torch._debug_has_internal_overlap(result) != 1


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """Unsigned integers have no absolute value."""
    return tensor if _is_float(tensor) else tensor.double()


def _writes(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _is_float(value: object) -> bool:
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:  # a sparse product has other elements
        return False
    return value.dtype in (torch.float64, torch.complex128)


def _is_real_float(value: torch.Tensor) -> bool:
    return value.dtype == torch.float64


Outputs = list[torch.Tensor]


def spread_of(compute: Callable[[], Outputs], exact: Outputs, arithmetic: Arithmetic, runs: int = RUNS[0]) -> Outputs:
    """For each component of `exact`, how far `runs` disturbed runs of `compute` came from it.

    NaN and infinity where a disturbed run gave one and the exact one did not: nothing can be said of
    such a component.
    """
    return _largest_changes(compute, exact, runs, lambda run: RoundingNoise(arithmetic, seed=run))


def with_rounded_saves(compute: Callable[[], Outputs], exact: Outputs, arithmetic: Arithmetic, runs: int) -> Outputs:
    """As `spread_of`, but all that is disturbed is what autograd saves for its backward passes.

    No mode is active then. While one is, PyTorch takes some derivatives by other formulas (`prod` without a
    quotient), in which the rounding errors of the usual one, divided and subtracted, are nowhere to be seen.
    """

    def disturbed(run: int) -> contextlib.AbstractContextManager[Any]:
        noise = RoundingNoise(arithmetic, seed=run)
        return torch.autograd.graph.saved_tensors_hooks(
            lambda saved: saved, lambda saved: noise._disturb(saved, arithmetic.result, Rounding.ELEMENTARY)
        )

    return _largest_changes(compute, exact, runs, disturbed)


def _largest_changes(
    compute: Callable[[], Outputs],
    exact: Outputs,
    runs: int,
    disturbed: Callable[[int], contextlib.AbstractContextManager[Any]],
) -> Outputs:
    spread = [torch.zeros(value.shape, dtype=torch.float64) for value in exact]
    for run in range(runs):
        # Attention from its parts: the CPU's fused kernel is one leaf, inside of which nothing is disturbed.
        with undisturbed(), sdpa_kernel(SDPBackend.MATH), disturbed(run):
            moved = compute()
        for number, (value, reference) in enumerate(zip(moved, exact, strict=True)):
            if value.shape != reference.shape:
                spread[number].fill_(math.inf)
                continue
            spread[number] = torch.maximum(spread[number], _distance(value, reference))
    return spread


def _distance(value: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    wide = torch.complex128 if reference.is_complex() or value.is_complex() else torch.float64
    a, b = value.detach().to(wide), reference.detach().to(wide)
    change = (a - b).abs()
    same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(same, torch.zeros_like(change), change.nan_to_num(nan=math.inf, posinf=math.inf))

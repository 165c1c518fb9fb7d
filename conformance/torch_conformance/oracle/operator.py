"""One sample of an operator: called in every way, with its reference."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from ..tensors import WIDE, copied, host, same_bits, tensors_of, to_device, widened
from ..trial import NotApplicableError
from .gauge import Gauge
from .noise import RUNS, arithmetic_for, spread_of, with_rounded_saves
from .reference import undisturbed


@dataclasses.dataclass
class Arguments:
    """`input`, `args` and `kwargs` of one call."""

    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    host_args: bool = False
    """Whether `args` belong on the host whatever the device: `tensor_split` reads them to make shapes."""

    def on(self, device: torch.device | str) -> Arguments:
        """The same on a device, strides, offsets and shared storages included."""
        moved = to_device((self.input, () if self.host_args else self.args, self.kwargs), device)
        value, args, kwargs = _with_device(moved, torch.device(device))
        return Arguments(value, self.args if self.host_args else args, kwargs, self.host_args)

    def copy(self) -> Arguments:
        value, args, kwargs = copied((self.input, self.args, self.kwargs))
        return Arguments(value, args, kwargs, self.host_args)

    def wide(self) -> Arguments:
        value, args, kwargs = widened((self.input, self.args, self.kwargs))
        return Arguments(value, args, kwargs, self.host_args)

    def call(self, function: Callable[..., Any], **more: Any) -> Any:
        return function(self.input, *self.args, **self.kwargs, **more)

    def leaves(self) -> list[torch.Tensor]:
        """The tensors to differentiate by."""
        return [t for t in tensors_of((self.input, self.args, self.kwargs)) if t.requires_grad]

    def tensors(self) -> list[torch.Tensor]:
        return tensors_of((self.input, self.args, self.kwargs))


def _with_device(value: Any, device: torch.device) -> Any:
    """Factories and `to` take their device as an argument."""
    replaced = tree_map_only(torch.device, lambda _old: device, value)
    replaced = tree_map_only(str, lambda text: device if text == "cpu" else text, replaced)
    replaced[2].update({"device": device} if replaced[2].get("device") is not None else {})
    return replaced


@contextlib.contextmanager
def wide_default() -> Iterator[None]:
    """Integers that become floats become float64."""
    old = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(old)


def _pattern(shape: torch.Size, salt: int) -> torch.Tensor:
    """Numbers of +-{4..8}/8 in float64, exact in every float dtype, the same in each process."""
    generator = torch.Generator().manual_seed(
        int.from_bytes(hashlib.blake2b(repr((tuple(shape), salt)).encode(), digest_size=4).digest(), "big")
    )
    magnitude = torch.randint(4, 9, tuple(shape), generator=generator).double() / 8
    return magnitude * (torch.randint(0, 2, tuple(shape), generator=generator).double() * 2 - 1)


def cotangent(like: torch.Tensor, salt: int = 0) -> torch.Tensor:
    """A fixed direction in the shape and dtype of `like`, on its device."""
    real = _pattern(like.shape, salt)
    value = torch.complex(real, _pattern(like.shape, salt + 1)) if like.is_complex() else real
    return value.to(like.dtype).to(like.device)


def differentiable(out: Any) -> list[torch.Tensor]:
    return [t for t in tensors_of(out) if t.requires_grad and (t.is_floating_point() or t.is_complex())]


def gradients(arguments: Arguments, function: Callable[[Arguments], Any]) -> list[torch.Tensor]:
    """Of `function(arguments)` along fixed cotangents, by all leaves that it depends on."""
    leaves, outs = arguments.leaves(), differentiable(function(arguments))
    if not leaves or not outs:
        return []
    found = torch.autograd.grad(outs, leaves, [cotangent(o, i) for i, o in enumerate(outs)], allow_unused=True)
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


def second_gradients(arguments: Arguments, function: Callable[[Arguments], Any]) -> list[torch.Tensor]:
    """Of the gradients, along further fixed directions, by leaves and cotangents."""
    leaves, outs = arguments.leaves(), differentiable(function(arguments))
    if not leaves or not outs:
        return []
    along = [cotangent(o, i).requires_grad_() for i, o in enumerate(outs)]
    first = torch.autograd.grad(outs, leaves, along, create_graph=True, allow_unused=True)
    chosen = [g for g in first if g is not None and g.requires_grad]
    if not chosen:
        return []
    by = [*leaves, *along]
    second = torch.autograd.grad(chosen, by, [cotangent(g, 10 + i) for i, g in enumerate(chosen)], allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(second, by, strict=True)]


def tangents(arguments: Arguments, function: Callable[[Arguments], Any]) -> list[torch.Tensor]:
    """Forward-mode derivatives along fixed tangents."""
    import torch.autograd.forward_ad as fwd

    leaves = arguments.leaves()
    if not leaves:
        return []
    number = {id(leaf): i for i, leaf in enumerate(leaves)}
    with fwd.dual_level():

        def dual(t: torch.Tensor) -> torch.Tensor:
            return fwd.make_dual(t.detach(), cotangent(t, number[id(t)])) if id(t) in number else t

        moved = tree_map_only(torch.Tensor, dual, (arguments.input, arguments.args, arguments.kwargs))
        outs = [t for t in tensors_of(function(Arguments(*moved))) if t.is_floating_point() or t.is_complex()]
        parts = [fwd.unpack_dual(t) for t in outs]
        return [torch.zeros_like(p.primal) if p.tangent is None else p.tangent.clone() for p in parts]


Derive = Callable[[Arguments, Callable[[Arguments], Any]], list[torch.Tensor]]


def results_of(out: Any) -> list[torch.Tensor]:
    """All results as tensors: numbers that an operator returns are 0-d ones."""
    leaves = []
    for leaf in tree_flatten(out)[0]:
        if isinstance(leaf, torch.Tensor):
            leaves.append(leaf)
        elif isinstance(leaf, bool | int | float | complex):
            leaves.append(torch.tensor(leaf))
    return leaves


class Draws(TorchDispatchMode):
    """While active, notes whether an operator takes random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = False

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.drawn = self.drawn or torch.Tag.nondeterministic_seeded in op.tags
        return op(*args, **(kwargs or {}))


class Sample:
    """A call and what is right for it. References are computed once, on first use."""

    def __init__(
        self,
        arguments: Arguments,
        function: Callable[[Arguments], Any],
        float32_matmul: str,
        gauge: Gauge | None = None,
        typed: bool = False,
    ) -> None:
        self.arguments = arguments
        self.function = function
        self.gauge = gauge
        self.typed = typed
        self.float32_matmul = float32_matmul

    @functools.cached_property
    def expected(self) -> Any:
        """The CPU's result in the same dtype: shapes, dtypes, strides; an exception if it refuses."""
        arguments = self.arguments.copy()
        self.expected_arguments = arguments
        try:
            with undisturbed():
                return self.function(arguments)
        except Exception as error:  # to be compared with the device's
            return error

    @functools.cached_property
    def draws(self) -> bool:
        """Whether the call takes random numbers (dropout): each device has its own."""
        with undisturbed(), Draws() as seen:
            self.function(self.arguments.copy())
        return seen.drawn

    def written(self) -> list[bool]:
        """Which of the arguments' tensors the operator writes, on the CPU."""
        if isinstance(self.expected, Exception):
            return []
        pairs = zip(self.arguments.tensors(), self.expected_arguments.tensors(), strict=True)
        return [not same_bits(before, after) for before, after in pairs]

    def _dtype(self) -> torch.dtype:
        floats = [t.dtype for t in self.arguments.tensors() if t.dtype in WIDE]
        floats += [t.dtype for t in tensors_of(self.expected) if t.dtype in WIDE]
        return min(floats, key=lambda dtype: -torch.finfo(dtype).eps, default=torch.float32)

    def gauged(self, out: Any, arguments: Arguments) -> list[torch.Tensor]:
        return results_of(self.gauge(arguments.input, out) if self.gauge else out)

    def of_device(self, out: Any) -> list[torch.Tensor]:
        """The device's results, what is not unique taken out of them (on the CPU, in float64)."""
        if not self.gauge:
            return results_of(out)
        narrow = results_of(out)
        moved = tree_map_only(torch.Tensor, lambda t: widened(host(t)), out)
        exact = self.gauged(moved, self.arguments.wide())
        dtype = next((t.dtype for t in narrow if t.dtype in WIDE), torch.float64)
        return [e.to(_like(dtype, e)) if e.dtype in WIDE else e for e in exact]

    @functools.cached_property
    def exact(self) -> list[torch.Tensor]:
        """The reference."""
        if not self.typed:
            try:
                with undisturbed():
                    return self._wide_run()
            except (RuntimeError, ValueError):  # it takes no float64 in this combination of arguments
                self.typed = True
        return [host(t) for t in self.gauged(self.expected, self.arguments)]

    def _wide_run(self) -> list[torch.Tensor]:
        with wide_default(), torch.no_grad():
            arguments = self.arguments.wide()
            return [host(t).clone() for t in self.gauged(self.function(arguments), arguments)]

    def spread(self, runs: int) -> list[torch.Tensor]:
        exact = self.exact
        if self.typed:
            # How far float64 runs are moved says how far typed ones may be, where there is such a run.
            try:
                with undisturbed():
                    exact = self._wide_run()
            except (RuntimeError, ValueError):
                return [torch.zeros(t.shape, dtype=torch.float64) for t in self.exact]
        return spread_of(self._wide_run, exact, arithmetic_for(self._dtype(), self.float32_matmul), runs)

    def derivative(self, derive: Derive) -> tuple[list[torch.Tensor], Callable[[int], list[torch.Tensor]]]:
        """The reference of a derivative, and a function for its spread."""

        def run() -> list[torch.Tensor]:
            with wide_default():
                return [host(t).clone() for t in derive(self.arguments.wide(), self.function)]

        with undisturbed():
            exact = run()
        arithmetic = arithmetic_for(self._dtype(), self.float32_matmul)

        def spread(runs: int) -> list[torch.Tensor]:
            try:
                spread = spread_of(run, exact, arithmetic, runs)
                if runs == RUNS[0]:
                    return spread
                more = with_rounded_saves(run, exact, arithmetic, RUNS[0])
                return [torch.maximum(a, b) for a, b in zip(spread, more, strict=True)]
            except RuntimeError as error:  # PyTorch's forward mode fails for a few views while a mode watches
                raise NotApplicableError(f"the reference can't be disturbed: {error}") from None

        return exact, spread


def _like(dtype: torch.dtype, value: torch.Tensor) -> torch.dtype:
    """`dtype`, real or complex as `value` is."""
    if value.is_complex():
        return (
            dtype
            if dtype.is_complex
            else torch.promote_types(dtype, torch.complex32 if dtype.itemsize == 2 else torch.complex64)
        )
    return dtype.to_real()


def same_layout(got: torch.Tensor, want: torch.Tensor) -> bool:
    """Strides of dimensions that have them (a size of 1 has none that matters)."""
    if want.layout != torch.strided or want.numel() == 0 or got.layout != torch.strided:
        return got.layout == want.layout
    pairs = zip(got.stride(), want.stride(), want.shape, strict=True)
    return all(a == b for a, b, size in pairs if size > 1)

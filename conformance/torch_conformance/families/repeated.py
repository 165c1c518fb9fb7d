"""The same operator again, with something else in it: a device that keeps compiled programs must not
mistake one call for another. Shapes and dtypes stay; a number, an axis, a mode, or the values change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional as F

from ..sources.own_cases import own
from ..trial import Trial
from . import agree, numbers

Call = Callable[[torch.Tensor, Any], object]

ATTRIBUTES: dict[str, tuple[Sequence[Any], Call]] = {
    "add_alpha": ((1, 2, -3), lambda x, v: torch.add(x, x, alpha=v)),
    "add_number": ((1, 2.0, -3), lambda x, v: x + v),
    "sub_number": ((1, 2.0, -3), lambda x, v: v - x),
    "mul_number": ((2, 4.0, -8), lambda x, v: x * v),
    "div_number": ((2, 4.0, -8), lambda x, v: x / v),
    "pow": ((2, 3, 1), lambda x, v: x**v),
    "remainder": ((3, 5, -4), lambda x, v: x % v),
    "clamp_minimum": ((0, 5, 9), lambda x, v: x.clamp(min=v)),
    "clamp_both": (((0, 5), (3, 9), (5, 2)), lambda x, v: x.clamp(*v)),
    "leaky_relu": ((0.5, 0.25, 2.0), lambda x, v: F.leaky_relu(x - 12, v)),
    "gelu": (("none", "tanh"), lambda x, v: (F.gelu(x[0, :2], approximate=v) * 1e4).round()),
    "threshold": ((5, 10, 1), lambda x, v: F.threshold(x, v, 0)),
    "hardtanh": (((-1, 4), (2, 9)), lambda x, v: F.hardtanh(x, *v)),
    "fill": ((1, 2, 0.5), lambda x, v: torch.full_like(x, v)),
    "masked_fill": ((1, 2, -1), lambda x, v: x.masked_fill(x > 7, v)),
    "sum_axis": ((0, 1, (0, 1)), lambda x, v: x.sum(v)),
    "amax_axis": ((0, 1), lambda x, v: x.amax(v)),
    "keepdim": ((False, True), lambda x, v: x.sum(0, keepdim=v)),
    "softmax_axis": ((0, 1), lambda x, v: torch.softmax(x.relu() * 0, v)),
    "cumsum_axis": ((0, 1), lambda x, v: x.cumsum(v)),
    "cat_axis": ((0, 1), lambda x, v: torch.cat([x, x], v)),
    "sort_direction": ((False, True), lambda x, v: x.sort(dim=1, descending=v).values),
    "topk_largest": ((True, False), lambda x, v: x.topk(2, 1, largest=v).values),
    "topk_count": ((1, 3, 2), lambda x, v: x.topk(v, 1).values),
    "flip_axis": ((0, 1), lambda x, v: x.flip(v)),
    "roll_shift": ((1, 2, -1), lambda x, v: x.roll(v, 1)),
    "tril_diagonal": ((0, 1, -2), lambda x, v: x.tril(v)),
    "transpose": (((0, 1), (1, 0)), lambda x, v: x.permute(v) * 2),
    "slice_start": ((0, 1, 2), lambda x, v: x[v : v + 2] * 2),
    "slice_step": ((1, 2), lambda x, v: x[:, ::v] * 2),
    "index_select": (((0, 1), (2, 3), (1, 1)), lambda x, v: x.index_select(0, torch.tensor(v, device=x.device))),
    "gather": ((0, 1, 2), lambda x, v: x.gather(1, torch.full((4, 2), v, device=x.device))),
    "scatter": ((1, 5), lambda x, v: torch.zeros_like(x).scatter(1, torch.ones_like(x).long(), x * 0 + v)),
    "one_hot": ((3, 5), lambda x, v: F.one_hot((x[0] % 3).long(), v)),
    "arange": ((5, 13, 27), lambda x, v: torch.arange(v, device=x.device) + x[0, 0]),
    "norm_order": ((1, float("inf"), -float("inf")), lambda x, v: torch.linalg.vector_norm(x, v)),
    "layer_norm": ((1e12, 1e10), lambda x, v: (F.layer_norm(x * 4, (6,), eps=v) * v**0.5).round()),
    "conv_stride": ((1, 2), lambda x, v: F.conv1d(x[None], torch.ones(1, 4, 2, device=x.device), stride=v)),
    "conv_padding": ((0, 1), lambda x, v: F.conv1d(x[None], torch.ones(1, 4, 2, device=x.device), padding=v)),
    "pool_size": ((2, 3), lambda x, v: F.max_pool1d(x[None], v, stride=1)),
    "interpolate": (("nearest", "nearest-exact"), lambda x, v: F.interpolate(x[None], size=4, mode=v)),
    "pad_value": ((0, 1, 2), lambda x, v: F.pad(x, (1, 1), value=v)),
    "pad_mode": (("reflect", "replicate"), lambda x, v: F.pad(x[None], (1, 2), mode=v)),
    "rounding_mode": (("floor", "trunc", None), lambda x, v: torch.div(x - 12, 4, rounding_mode=v)),
    "scatter_reduce": (
        ("sum", "amax", "prod"),
        lambda x, v: torch.ones_like(x).scatter_reduce(1, (x % 2).long(), x % 3 + 1, v),
    ),
    "index_add_alpha": ((1, 2), lambda x, v: x.index_add(0, torch.tensor([1, 1], device=x.device), x[:2], alpha=v)),
    "addmm": (((1, 1), (0, 2), (3, -1)), lambda x, v: torch.addmm(x @ x.t(), x, x.t(), beta=v[0], alpha=v[1])),
    "loss_reduction": (("sum", "none"), lambda x, v: F.mse_loss(x, x + 2, reduction=v)),
    "dtype": ((torch.int64, torch.int32, torch.float32), lambda x, v: x.sum(dtype=v)),
    "cast": ((torch.int64, torch.float64, torch.bool), lambda x, v: x.to(v)),
}


def _embedding_gradient(x: torch.Tensor, padding: int | None) -> torch.Tensor | None:
    weights = x.clone().requires_grad_()
    F.embedding(torch.tensor([0, 1, 1, 3], device=x.device), weights, padding_idx=padding).sum().backward()
    return weights.grad


ATTRIBUTES["embedding_padding"] = ((None, 0, 1), _embedding_gradient)


def _define(name: str, values: Sequence[Any], call: Call) -> None:
    @own(f"repeated.{name}.attribute.value")
    def run(t: Trial, dtype: torch.dtype) -> None:
        agree(t, lambda d: [call(numbers(d, 4, 6), v) for v in (*values, *values[::-1])])


for _name, (_values, _call) in ATTRIBUTES.items():
    _define(_name, _values, _call)

VALUES: dict[str, Callable[[torch.Tensor], object]] = {
    "add": lambda x: x + x,
    "relu": lambda x: torch.relu(x - 20),
    "amax": lambda x: [x.amax(1), x.amin()],
    "sum": lambda x: [x.sum(), x.sum(0)],
    "mm": lambda x: x @ x.t(),
    "argmax": lambda x: (x % 7).argmax(1),
    "sort": lambda x: (x % 7).sort(dim=1, stable=True),
    "cumsum": lambda x: x.cumsum(0),
    "where": lambda x: torch.where(x > 20, x, -x),
    "index": lambda x: x[(x[:, 0] % 4).long()],
    "nonzero": lambda x: (x % 3).nonzero(),
    "unique": lambda x: (x % 5).unique(),
    "embedding": lambda x: F.embedding((x[0] % 4).long(), x),
    "item": lambda x: torch.tensor([x.sum().item(), x[1, 1].item()]),
    "in_place": lambda x: x.clone().mul_(2).sub_(x[0]),
    "upload": lambda x: torch.tensor(x.tolist(), device=x.device) + 1,
}


def _define_values(name: str, compute: Callable[[torch.Tensor], object]) -> None:
    @own(f"repeated.{name}.values.value")
    def run(t: Trial, dtype: torch.dtype) -> None:
        def results(d: torch.device) -> list[object]:
            return [compute(numbers(d, 4, 6, start=start)) for start in (1, 9, 30, 1)]

        agree(t, results)


for _name, _compute in VALUES.items():
    _define_values(_name, _compute)

SHAPES: dict[str, Callable[[torch.Tensor], object]] = {
    "add": lambda x: x + 1,
    "sum": lambda x: [x.sum(), x.sum(-1)],
    "mm": lambda x: x.reshape(-1, x.shape[-1]) @ x.reshape(-1, x.shape[-1]).t(),
    "cat": lambda x: torch.cat([x, x], -1),
    "transpose": lambda x: x.transpose(-1, 0) * 2,
    "arange": lambda x: torch.arange(x.numel(), device=x.device),
    "broadcast": lambda x: x + x[..., :1],
}


def _define_shapes(name: str, compute: Callable[[torch.Tensor], object]) -> None:
    @own(f"repeated.{name}.shapes.value")
    def run(t: Trial, dtype: torch.dtype) -> None:
        shapes = ((2, 6), (6, 2), (3, 4), (12, 1), (1, 12), (2, 3, 2), (2, 6))  # of one size
        agree(t, lambda d: [compute(numbers(d, *shape)) for shape in shapes])


for _name, _compute in SHAPES.items():
    _define_shapes(_name, _compute)


@own("repeated.operands.aliases.value")
def the_same_call_with_the_same_tensor_twice(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: torch.device, same_first: bool) -> list[torch.Tensor]:
        shape = (4, 6) if same_first else (6, 4)  # each order begins anew
        x, y = numbers(d, *shape), numbers(d, *shape, start=30)
        kept = []
        for other in (x, y, x, y) if same_first else (y, x, y, x):
            kept += [x.add_(other).clone(), x.sub_(other.clone()).clone(), torch.mul(x, other), x + other]
            kept.append(torch.add(x, other, out=y if other is x else torch.empty_like(x)).clone())
        return kept

    agree(t, lambda d: [*compute(d, True), *compute(d, False)])


@own("repeated.layouts.strides.value")
def the_same_shape_in_other_strides(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: torch.device) -> list[torch.Tensor]:
        base = numbers(d, 8, 8)
        views = (base[:4, :4], base[:4, :4].t(), base[::2, ::2], base[4:, 4:], base[0, :4].expand(4, 4), base[:4, :4])
        return [view * 2 + 1 for view in views] + [view.sum(0) for view in views]

    agree(t, compute)


@own("repeated.dtypes.casts.value")
def the_same_shape_in_other_dtypes(t: Trial, dtype: torch.dtype) -> None:
    dtypes = (torch.float32, torch.int32, torch.bfloat16, torch.uint8, torch.float64, torch.float32)
    agree(t, lambda d: [numbers(d, 4, 6, dtype=kind) + 1 for kind in dtypes])
    agree(t, lambda d: [numbers(d, 4, 6, dtype=kind).sum(0) for kind in dtypes])

"""Operators along an axis, on tensors whose axes are equally long: a wrong one changes no shape.

The values are small whole numbers, so that sums, products and means of four are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..sources.own_cases import own
from ..trial import Trial
from . import agree

Along = Callable[[torch.Tensor, int], object]

ALONG: dict[str, Along] = {
    "sum": lambda x, d: [x.sum(d), x.sum(d, keepdim=True)],
    "mean": lambda x, d: x.mean(d),
    "prod": lambda x, d: (x % 3 + 1).prod(d),
    "amax": lambda x, d: [x.amax(d), x.amin(d, keepdim=True)],
    "max": lambda x, d: list(x.max(d)) + list(x.min(d)),
    "argmax": lambda x, d: [x.argmax(d), x.argmin(d, keepdim=True)],
    "any": lambda x, d: [(x > 11).any(d), (x > 2).all(d)],
    "count_nonzero": lambda x, d: (x % 3).count_nonzero(d),
    "vector_norm": lambda x, d: torch.linalg.vector_norm(x, float("inf"), d),
    "cumsum": lambda x, d: x.cumsum(d),
    "cumprod": lambda x, d: (x % 3 + 1).cumprod(d),
    "cummax": lambda x, d: list(x.cummax(d)) + list(x.cummin(d)),
    "sort": lambda x, d: list(x.sort(dim=d, stable=True)) + list(x.sort(dim=d, descending=True, stable=True)),
    "topk": lambda x, d: x.topk(2, d),
    "kthvalue": lambda x, d: x.kthvalue(2, d).values,
    "median": lambda x, d: x.median(d).values,
    "flip": lambda x, d: x.flip(d),
    "roll": lambda x, d: x.roll(1, d),
    "cat": lambda x, d: torch.cat([x, x + 1], d),
    "stack": lambda x, d: torch.stack([x, x + 1], d),
    "index_select": lambda x, d: x.index_select(d, torch.tensor([2, 0, 0], device=x.device)),
    "gather": lambda x, d: x.gather(d, (x % 4).long()),
    "scatter": lambda x, d: torch.zeros_like(x).scatter(d, x.argsort(d), x),
    "index_add": lambda x, d: torch.zeros_like(x).index_add(d, torch.tensor([3, 1, 3, 0], device=x.device), x),
    "select": lambda x, d: [x.select(d, i) + 0 for i in range(4)],
    "narrow": lambda x, d: x.narrow(d, 1, 2) * 2,
    "unbind": lambda x, d: [part + 0 for part in x.unbind(d)],
    "diff": lambda x, d: x.diff(dim=d),
    "squeeze": lambda x, d: x.unsqueeze(d).mul(2).squeeze(d),
    "repeat_interleave": lambda x, d: x.repeat_interleave(2, d),
}


def scrambled(device: torch.device, rank: int) -> torch.Tensor:
    """4 x 4 (x 4) whole numbers from 0 to 12, with ties, in no order along any axis."""
    values = torch.arange(4**rank) * 7 % 13
    return values.reshape((4,) * rank).float().to(device)


def _define(name: str, along: Along) -> None:
    for rank in (2, 3):
        for dim in (*range(rank), -1):

            @own(f"axes.{name}.rank{rank}_{'last' if dim < 0 else dim}.value")
            def run(t: Trial, dtype: torch.dtype, rank: int = rank, dim: int = dim) -> None:
                agree(t, lambda d: along(scrambled(d, rank), dim))


for _name, _along in ALONG.items():
    _define(_name, _along)


@own("axes.sum.pairs.value")
def sums_over_two_axes(t: Trial, dtype: torch.dtype) -> None:
    agree(t, lambda d: [scrambled(d, 3).sum(dims) for dims in ((0, 1), (0, 2), (1, 2), (-1, 0))])


@own("axes.linalg.square.value")
def products_of_squares(t: Trial, dtype: torch.dtype) -> None:
    """Neither operand is symmetric, and all are square."""

    def compute(d: torch.device) -> list[torch.Tensor]:
        x, y = scrambled(d, 2), scrambled(d, 3)
        z = y.transpose(0, 2) + 1
        return [x @ y[1], y @ z, x.t() @ x, torch.addmm(x, x, y[2]), torch.baddbmm(y, z, y), x @ y, y @ x[0]]

    agree(t, compute)

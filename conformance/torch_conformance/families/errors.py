"""Mistakes raise PyTorch's own exceptions, and the device goes on working afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from ..sources.own_cases import own
from ..trial import Trial
from . import numbers

Mistake = Callable[[torch.device], Any]
Kinds = type[BaseException] | tuple[type[BaseException], ...]


def _indices(d: torch.device, *values: int) -> torch.Tensor:
    return torch.tensor(values, device=d)


MISTAKES: dict[str, tuple[Kinds, Mistake]] = {
    "add_shapes": (RuntimeError, lambda d: numbers(d, 3) + numbers(d, 4)),
    "mm_shapes": (RuntimeError, lambda d: numbers(d, 3, 4) @ numbers(d, 3, 4)),
    "bmm_shapes": (RuntimeError, lambda d: torch.bmm(numbers(d, 2, 3, 4), numbers(d, 3, 4, 2))),
    "cat_shapes": (RuntimeError, lambda d: torch.cat([numbers(d, 2, 3), numbers(d, 2, 4)], 0)),
    "linear_shapes": (RuntimeError, lambda d: F.linear(numbers(d, 2, 3), numbers(d, 4, 5))),
    "conv_channels": (RuntimeError, lambda d: F.conv2d(numbers(d, 1, 3, 4, 4), numbers(d, 2, 4, 3, 3))),
    "sum_dimension": (IndexError, lambda d: numbers(d, 3).sum(2)),
    "softmax_dimension": (IndexError, lambda d: numbers(d, 3).softmax(1)),
    "transpose_dimension": (IndexError, lambda d: numbers(d, 3, 2).transpose(0, 2)),
    "view_size": (RuntimeError, lambda d: numbers(d, 6).view(4, 2)),
    "view_strides": (RuntimeError, lambda d: numbers(d, 4, 6).t().view(24)),
    "expand_size": (RuntimeError, lambda d: numbers(d, 3).expand(4)),
    "index_beyond": (IndexError, lambda d: numbers(d, 3)[3]),
    "index_tensor_beyond": ((IndexError, RuntimeError), lambda d: numbers(d, 3)[_indices(d, 0, 5)].cpu()),
    "index_select_beyond": (
        (IndexError, RuntimeError),
        lambda d: numbers(d, 3, 2).index_select(0, _indices(d, 3)).cpu(),
    ),
    "gather_beyond": ((IndexError, RuntimeError), lambda d: numbers(d, 2, 3).gather(1, _indices(d, 0, 7)[None]).cpu()),
    "scatter_beyond": (
        (IndexError, RuntimeError),
        lambda d: torch.zeros(3, device=d).scatter_(0, _indices(d, 9), 1.0).cpu(),
    ),
    "embedding_beyond": ((IndexError, RuntimeError), lambda d: F.embedding(_indices(d, 5), numbers(d, 4, 2)).cpu()),
    "index_put_beyond": (
        (IndexError, RuntimeError),
        lambda d: torch.zeros(3, device=d).index_put_((_indices(d, 4),), numbers(d, 1)).cpu(),
    ),
    "take_beyond": ((IndexError, RuntimeError), lambda d: numbers(d, 3).take(_indices(d, 3)).cpu()),
    "one_hot_negative": ((IndexError, RuntimeError), lambda d: F.one_hot(_indices(d, 1, -1), 3).cpu()),
    "nll_class_beyond": (
        (IndexError, RuntimeError),
        lambda d: F.cross_entropy(numbers(d, 2, 3), _indices(d, 0, 8)).cpu(),
    ),
    "item_of_many": (RuntimeError, lambda d: numbers(d, 2).item()),
    "bool_of_many": (RuntimeError, lambda d: bool(numbers(d, 2))),
    "amax_of_nothing": ((IndexError, RuntimeError), lambda d: torch.empty(0, device=d).amax()),
    "argmax_of_nothing": ((IndexError, RuntimeError), lambda d: torch.empty(0, device=d).argmax()),
    "in_place_dtype": (RuntimeError, lambda d: numbers(d, 2, dtype=torch.int64).add_(0.5)),
    "out_dtype": (
        RuntimeError,
        lambda d: torch.mm(numbers(d, 2, 2), numbers(d, 2, 2), out=torch.empty(2, 2, dtype=torch.int64, device=d)),
    ),
    "in_place_shape": (RuntimeError, lambda d: numbers(d, 3).add_(numbers(d, 2, 3))),
    "leaf_in_place": (RuntimeError, lambda d: numbers(d, 3).requires_grad_().add_(1)),
    "backward_twice": (RuntimeError, lambda d: _backward_twice(d)),
    "backward_of_many": (RuntimeError, lambda d: (numbers(d, 3).requires_grad_() * 2).backward()),
    "changed_for_backward": (RuntimeError, lambda d: _changed_for_backward(d)),
    "bitwise_of_floats": ((RuntimeError, NotImplementedError), lambda d: numbers(d, 2) & numbers(d, 2)),
    "mixed_matmul": (RuntimeError, lambda d: numbers(d, 2, 2) @ numbers(d, 2, 2, dtype=torch.int64)),
    "integer_gradient": (RuntimeError, lambda d: numbers(d, 2, dtype=torch.int64).requires_grad_()),
    "negative_size": (RuntimeError, lambda d: torch.empty(-1, device=d)),
    "empty_stack": (RuntimeError, lambda d: torch.stack([])),
    "split_sizes": (RuntimeError, lambda d: numbers(d, 5).split([2, 2])),
    "unflatten": (RuntimeError, lambda d: numbers(d, 6).unflatten(0, (4, 2))),
    "cholesky_indefinite": (RuntimeError, lambda d: torch.linalg.cholesky(-torch.eye(2, device=d)).cpu()),
    "inverse_singular": (RuntimeError, lambda d: torch.linalg.inv(torch.zeros(2, 2, device=d)).cpu()),
    "solve_singular": (
        RuntimeError,
        lambda d: torch.linalg.solve(torch.zeros(2, 2, device=d), torch.ones(2, device=d)).cpu(),
    ),
    "multinomial_negative": (RuntimeError, lambda d: torch.multinomial(torch.tensor([-1.0, 1.0], device=d), 1).cpu()),
    "dropout_probability": ((ValueError, RuntimeError), lambda d: F.dropout(numbers(d, 2), 1.5)),
    "normal_negative_deviation": (RuntimeError, lambda d: torch.empty(2, device=d).normal_(0, -1)),
    "pixel_shuffle": (RuntimeError, lambda d: F.pixel_shuffle(numbers(d, 1, 3, 2, 2), 2)),
    "pool_too_large": (RuntimeError, lambda d: F.max_pool2d(numbers(d, 1, 1, 2, 2), 5)),
    "tolerance_of_shapes": (RuntimeError, lambda d: F.mse_loss(numbers(d, 3), numbers(d, 4)[:2])),
}


def _backward_twice(d: torch.device) -> None:
    x = numbers(d, 3).requires_grad_()
    y = (x * x).sum()
    y.backward()
    y.backward()


def _changed_for_backward(d: torch.device) -> None:
    x = numbers(d, 3).requires_grad_()
    y = x.exp()
    y.add_(1)
    y.sum().backward()


def _works(t: Trial) -> None:
    """What was right before is right after, on memory that errors may have left behind too."""
    x = torch.full((64, 64), 3.0, device=t.device)
    t.require(float((x @ x).sum()) == 64.0**3 * 9, "poisoned", "after the error a product is wrong")
    t.require(
        (torch.arange(5, device=t.device) + 1).tolist() == [1, 2, 3, 4, 5], "poisoned", "after the error a sum is wrong"
    )


def _define(name: str, kinds: Kinds, mistake: Mistake) -> None:
    @own(f"errors.{name}.mistake.raised")
    def raised(t: Trial, dtype: torch.dtype) -> None:
        text = t.raises(kinds, lambda: mistake(t.device))
        t.require(bool(text.strip()), "error", "an error without a text")
        _works(t)


for _name, (_kinds, _mistake) in MISTAKES.items():
    _define(_name, _kinds, _mistake)


@own("errors.devices.mixed.raised")
def operands_on_two_devices(t: Trial, dtype: torch.dtype) -> None:
    if t.device.type == "cpu":
        return
    t.raises(RuntimeError, lambda: numbers(t.device, 3) + numbers("cpu", 3))
    t.raises(RuntimeError, lambda: numbers(t.device, 2, 2) @ numbers("cpu", 2, 2))
    both = numbers(t.device, 3) + torch.tensor(2.0)  # a number in a tensor's clothes
    t.equal(both, torch.tensor([3.0, 4.0, 5.0]))


@own("errors.device_index.absent.raised")
def a_device_that_is_not_there(t: Trial, dtype: torch.dtype) -> None:
    if t.device.type == "cpu":
        return
    absent = f"{t.device.type}:{torch.accelerator.device_count() + 6}"
    t.raises((RuntimeError, ValueError), lambda: torch.ones(2, device=absent))
    t.raises((RuntimeError, ValueError), lambda: torch.ones(2).to(absent))
    _works(t)


@own("errors.many.mistakes.raised")
def errors_in_a_row(t: Trial, dtype: torch.dtype) -> None:
    for _ in range(50):
        t.raises((IndexError, RuntimeError), lambda: numbers(t.device, 3)[_indices(t.device, 99)].cpu())
    _works(t)

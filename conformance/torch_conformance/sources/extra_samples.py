"""Samples for operators whose samples in the database can show nothing: all their results are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Extra = Callable[[torch.dtype], list[tuple[Any, tuple[Any, ...], dict[str, Any]]]]


def _numbers(dtype: torch.dtype, *values: float) -> torch.Tensor:
    return torch.tensor(values).to(dtype)


def _comparison(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    left, right = _numbers(dtype, 0, 1, 2, 3, 0, 5), _numbers(dtype, 0, 2, 2, 1, 0, 7)
    return [
        (left, (right,), {}),
        (left.reshape(2, 3), (right.reshape(2, 3)[:1],), {}),
        (left.reshape(3, 2).t(), (right.reshape(2, 3),), {}),
    ]


def _zeros_and_others(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    value = _numbers(dtype, 0, 1, 0, 3, 5, 0)
    return [(value, (), {}), (value.reshape(2, 3).t(), (), {}), (value[1:4], (), {})]


def _members(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    value, few = _numbers(dtype, 0, 1, 2, 3, 4, 5), _numbers(dtype, 2, 4, 9)
    many = torch.arange(40).to(dtype)
    return [(value, (few,), {}), (value.reshape(2, 3), (few,), {"invert": True}), (value, (many,), {})]


def _thousands(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    value = _numbers(dtype, 1234, -5678, 500, 1500, -2500, 99)
    return [(value, (), {"decimals": -3}), (value.reshape(2, 3).t(), (), {"decimals": -3})]


def _masked_arg(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    value = _numbers(dtype, 3, 1, 4, 1, 5, 9, 2, 6).reshape(2, 4)
    mask = torch.tensor([[True, False, True, True], [False, True, False, True]])
    return [(value, (), {"dim": 1, "mask": mask}), (value, (), {"dim": 0, "mask": mask}), (value, (), {"dim": 1})]


def _products(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    value = _numbers(dtype, 1, 1, 1, 1, 0, 1).reshape(2, 3)
    return [(value, (1,), {}), (value, (0,), {}), (value[:1], (), {})]


def _with(*settings: dict[str, Any]) -> Extra:
    """Numbers on both sides of 0, of 1 and of 20, with each of the settings: the database has one setting."""

    def make(dtype: torch.dtype) -> list[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
        value = _numbers(dtype, -25, -3, -0.75, -0.25, 0, 0.25, 0.375, 0.75, 1.5, 3, 8, 25)
        return [(value.reshape(3, 4), (), kwargs) for kwargs in settings]

    return make


EXTRA: dict[str, Extra] = {
    "nn.functional.softplus": _with({}, {"beta": 2.0, "threshold": 1.0}),
    "nn.functional.elu": _with({}, {"alpha": 0.5}),
    "nn.functional.celu": _with({}, {"alpha": 2.0}),
    "nn.functional.leaky_relu": _with({}, {"negative_slope": 0.25}),
    "nn.functional.hardtanh": _with({}, {"min_val": -0.5, "max_val": 2.0}),
    "nn.functional.hardshrink": _with({}, {"lambd": 0.3}),
    "nn.functional.softshrink": _with({}, {"lambd": 0.3}),
    "nn.functional.gelu": _with({}, {"approximate": "tanh"}),
    "nn.functional.logsigmoid": _with({}),
    "nn.functional.hardswish": _with({}),
    "nn.functional.silu": _with({}),
    "nn.functional.mish": _with({}),
    "eq": _comparison,
    "ne": _comparison,
    "isclose": _comparison,
    "logical_xor": _comparison,
    "logical_and": _comparison,
    "logical_or": _comparison,
    "logical_not": _zeros_and_others,
    "acosh": _zeros_and_others,
    "asin": _zeros_and_others,
    "atanh": _zeros_and_others,
    "erfinv": _zeros_and_others,
    "xlogy": _comparison,
    "isin": _members,
    "prod": _products,
    "cumprod": _products,
    "round.decimals_neg_3": _thousands,
    "masked.argmax": _masked_arg,
    "masked.argmin": _masked_arg,
}
FIRST = 10000
"""Their numbers begin here, so that a longer list in the database leaves them alone."""

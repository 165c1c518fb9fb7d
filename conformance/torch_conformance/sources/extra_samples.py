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


EXTRA: dict[str, Extra] = {
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
    "round.decimals_neg_3": _thousands,
    "masked.argmax": _masked_arg,
    "masked.argmin": _masked_arg,
}
FIRST = 10000
"""Their numbers begin here, so that a longer list in the database leaves them alone."""

"""Result dtypes and values of mixed operands: all pairs of dtypes, tensors of rank 0, Python numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

from ..sources.own_cases import own
from ..trial import NotApplicableError, Trial
from . import DTYPES, agree

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": torch.add,
    "mul": torch.mul,
    "sub": torch.sub,
    "div": torch.div,
    "eq": torch.eq,
    "lt": torch.lt,
    "maximum": torch.maximum,
    "pow": torch.pow,
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "where": lambda a, b: torch.where(torch.tensor([True, False, True], device=a.device), a, b),
    "bitwise_and": torch.bitwise_and,
    "cat": lambda a, b: torch.cat([a.reshape(-1), b.reshape(-1)]),
}


def _values(d: Any, dtype: torch.dtype, scalar: bool) -> torch.Tensor:
    values = torch.tensor(2) if scalar else torch.tensor([1, 2, 4])
    return values.to(dtype).to(d)


def _agree_or_refuse(t: Trial, compute: Callable[[Any], Any]) -> None:
    """The same result as the CPU's, or an error where the CPU has one. Powers of two: no rounding."""
    try:
        compute(torch.device("cpu"))
    except NotImplementedError:
        raise NotApplicableError("the CPU has no kernel") from None
    except RuntimeError as error:
        if "not implemented for" in str(error):
            raise NotApplicableError("the CPU has no kernel") from None
        t.raises((RuntimeError, TypeError), lambda: compute(t.device))
        return
    agree(t, compute)


def _on_tensors(
    operator: Callable[[Any, Any], Any], a: torch.dtype, b: torch.dtype, scalar: bool
) -> Callable[[Any], Any]:
    return lambda d: operator(_values(d, a, False), _values(d, b, scalar))


def _on_number(operator: Callable[[Any, Any], Any], dtype: torch.dtype, value: Any) -> Callable[[Any], Any]:
    return lambda d: operator(_values(d, dtype, False), value)


def _define(a: torch.dtype, b: torch.dtype) -> None:
    first, second = str(a).removeprefix("torch."), str(b).removeprefix("torch.")

    for form, scalar in (("tensors", False), ("rank0", True)):

        @own(f"promotion.{first}.{form}.value", (b,))
        def pair(t: Trial, dtype: torch.dtype, scalar: bool = scalar) -> None:
            for name, operator in BINARY.items():
                try:
                    _agree_or_refuse(t, _on_tensors(operator, a, dtype, scalar))
                except NotApplicableError:
                    continue
                except Exception as error:
                    error.args = (f"{name}({first}, {second}): {error}",)
                    raise


for _a, _b in itertools.product(DTYPES, DTYPES):
    _define(_a, _b)

NUMBERS: dict[str, Any] = {"bool": True, "int": 2, "float": 0.5, "complex": 1j, "negative": -1, "large": 300}


def _define_number(name: str, value: Any) -> None:
    @own(f"promotion.number.{name}.value", DTYPES)
    def number(t: Trial, dtype: torch.dtype) -> None:
        for op_name in ("add", "mul", "sub", "div", "eq", "lt", "pow", "floor_divide", "remainder"):
            if op_name in ("floor_divide", "remainder", "pow", "div") and name in ("negative", "complex"):
                continue
            operator = BINARY[op_name]
            try:
                _agree_or_refuse(t, _on_number(operator, dtype, value))
            except NotApplicableError:
                continue


for _name, _value in NUMBERS.items():
    _define_number(_name, _value)


@own("promotion.sum.default.dtype", DTYPES)
def sums_of_integers_are_int64(t: Trial, dtype: torch.dtype) -> None:
    agree(
        t,
        lambda d: [_values(d, dtype, False).sum(), _values(d, dtype, False).cumsum(0), _values(d, dtype, False).prod()],
    )


@own("promotion.in_place.cast.error")
def an_in_place_result_that_does_not_fit(t: Trial, dtype: torch.dtype) -> None:
    t.raises(RuntimeError, lambda: torch.ones(3, dtype=torch.int64, device=t.device).add_(0.5))
    t.raises(RuntimeError, lambda: torch.ones(3, dtype=torch.bool, device=t.device).mul_(2))
    t.raises(
        RuntimeError,
        lambda: torch.add(torch.ones(3, device=t.device), 1, out=torch.ones(3, dtype=torch.int32, device=t.device)),
    )


@own("promotion.wrapped.numbers.dtype")
def numbers_never_widen_their_kind(t: Trial, dtype: torch.dtype) -> None:
    agree(
        t,
        lambda d: [
            torch.ones(2, dtype=torch.bfloat16, device=d) * 0.1,
            torch.ones(2, dtype=torch.int8, device=d) + 1,
            torch.ones(2, dtype=torch.int8, device=d) * 0.5,
            torch.ones(2, dtype=torch.bool, device=d) + 1,
            2 - torch.ones(2, dtype=torch.uint8, device=d),
            1 / torch.full((2,), 4, dtype=torch.int32, device=d),
        ],
    )

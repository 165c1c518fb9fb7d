"""Cases from PyTorch's foreach database: lists of tensors, fast and slow paths, in place and out of it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from ..case import Case, Group, Level
from ..oracle.operator import Arguments, Sample, results_of
from ..tensors import digest, tensors_of
from ..trial import NotApplicableError, Trial
from .op_database import seed_all


class ForeachCases:
    """All cases of one foreach operator in one dtype."""

    def __init__(self, info: Any, dtype: torch.dtype, group: Group, float32_matmul: str) -> None:
        self.info = info
        self.dtype = dtype
        self.group = group
        self.float32_matmul = float32_matmul

    def cases(self, level: Level) -> Iterator[Case]:
        seed_all()
        made = enumerate(self.info.sample_inputs("cpu", self.dtype, noncontiguous=False))
        for number, sample in itertools.islice(made, 2 if level is Level.QUICK else 40):
            inputs = digest((sample.input, sample.args))
            if self.info.method_variant is not None:
                yield Case(
                    self.group.case_name("functional", "value", number),
                    functools.partial(self._check, made=sample, function=self.info.method_variant, in_place=False),
                    inputs=inputs,
                )
            if self.info.inplace_variant is not None:
                yield Case(
                    self.group.case_name("inplace", "value", number),
                    functools.partial(self._check, made=sample, function=self.info.inplace_variant, in_place=True),
                    inputs=inputs,
                )

    def _check(self, t: Trial, made: Any, function: Any, in_place: bool) -> None:
        kwargs = {k: v for k, v in made.kwargs.items() if k not in ("device", "dtype")}
        arguments = Arguments(made.input, made.args, kwargs)

        def call(a: Arguments) -> Any:
            out = a.call(function)
            return a.input if in_place else out

        with torch.no_grad():
            sample = Sample(arguments, call, self.float32_matmul)
            if isinstance(sample.expected, Exception):
                raise NotApplicableError(str(sample.expected))
            want = results_of(sample.expected)
            got = results_of(call(arguments.on(t.device)))
            for number, (result, like) in enumerate(zip(got, want, strict=True)):
                t.same_metadata(result, like, f"result {number}")
            try:
                exact = sample.exact
            except Exception as error:
                raise NotApplicableError(str(error)) from None
            t.all_close(got, exact, sample.spread)
            assert tensors_of(got)


def groups(level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each operator of the foreach databases and dtype."""
    from torch.testing._internal import common_methods_invocations as database

    lists = ("foreach_unary_op_db", "foreach_binary_op_db", "foreach_pointwise_op_db", "foreach_reduce_op_db")
    for info in itertools.chain(*(getattr(database, name, []) for name in (*lists, "foreach_other_op_db"))):
        for dtype in (torch.float32,) if level is Level.QUICK else (torch.float32, torch.bfloat16, torch.int64):
            if dtype in info.dtypes:
                yield _group(info, dtype, float32_matmul)


def _group(info: Any, dtype: torch.dtype, float32_matmul: str) -> Group:
    def make(level: Level) -> Iterable[Case]:
        return ForeachCases(info, dtype, group, float32_matmul).cases(level)

    reason = "zeroes its operands" if info.name == "_foreach_zero" else ""
    if info.name == "_foreach_norm" and dtype == torch.int64:
        reason = "in int64 it takes the samples with NaN only"
    group = Group("foreach", info.name, str(dtype).removeprefix("torch."), make, constant=reason)
    return group

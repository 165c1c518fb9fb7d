"""Cases from PyTorch's optimizer database: a few steps of each optimizer, in each implementation."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from ..case import Case, Group, Level
from ..oracle.noise import arithmetic_for, spread_of
from ..oracle.operator import cotangent
from ..oracle.reference import undisturbed
from ..tensors import host
from ..trial import NotApplicableError, Trial
from .op_database import seed_all

STEPS = 4
_VARIANTS = {
    "plain": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"foreach": False, "fused": True},
}


def _run(info: Any, kwargs: dict[str, Any], device: Any, dtype: torch.dtype) -> list[torch.Tensor]:
    """The parameters after a few steps along fixed gradients."""
    seed_all()
    parameters = [
        torch.nn.Parameter(cotangent(torch.empty(shape), 5).to(dtype).to(device)) for shape in ((4, 3), (5,), (2, 2))
    ]
    optimizer = info.optim_cls(parameters, **kwargs)
    for step in range(STEPS):

        def closure(step: int = step) -> torch.Tensor:
            optimizer.zero_grad()
            loss = sum(((p - 0.25) ** 2 * (1 + cotangent(p, step).abs())).sum() for p in parameters)
            loss.backward()  # type: ignore[union-attr]
            return loss  # type: ignore[return-value]

        optimizer.step(closure)
    return [p.detach() for p in parameters]


def _check(t: Trial, info: Any, kwargs: dict[str, Any], float32_matmul: str) -> None:
    plain = {k: v for k, v in kwargs.items() if k not in ("foreach", "fused", "capturable")}
    try:
        _run(info, plain, "cpu", torch.float32)
    except Exception as error:
        raise NotApplicableError(str(error)) from None

    def reference() -> list[torch.Tensor]:
        return [host(p).clone() for p in _run(info, plain, "cpu", torch.float64)]

    with undisturbed():
        exact = reference()
    arithmetic = arithmetic_for(torch.float32, float32_matmul)
    got = _run(info, kwargs, t.device, torch.float32)
    t.all_close(got, exact, lambda runs: spread_of(reference, exact, arithmetic, min(runs, 4)))


class OptimizerCases:
    """All cases of one optimizer."""

    def __init__(self, info: Any, group: Group, float32_matmul: str) -> None:
        self.info = info
        self.group = group
        self.float32_matmul = float32_matmul

    def cases(self, level: Level) -> Iterator[Case]:
        made = self.info.optim_inputs_func(device="cpu", dtype=torch.float32)
        chosen = itertools.islice(enumerate(made), 2 if level is Level.QUICK else None)
        for number, optim_input in chosen:
            for variant, flags in _VARIANTS.items():
                if variant not in ("plain", *self.info.supported_impls):
                    continue
                kwargs = dict(optim_input.kwargs)
                if "foreach" in self.info.supported_impls:
                    kwargs |= flags
                yield Case(
                    self.group.case_name(variant, "value", number),
                    functools.partial(_check, info=self.info, kwargs=kwargs, float32_matmul=self.float32_matmul),
                )


def groups(level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each optimizer."""
    from torch.testing._internal.common_optimizers import optim_db

    # Muon takes no parameters that are not matrices; LBFGS evaluates its closure hundreds of times.
    left_out = {"SparseAdam", "Muon"} | ({"LBFGS"} if level is Level.QUICK else set())
    infos: list[Any] = optim_db
    for info in infos:
        if info.optim_cls.__name__ not in left_out:
            yield _group(info, float32_matmul)


def _group(info: Any, float32_matmul: str) -> Group:
    def make(level: Level) -> Iterable[Case]:
        return OptimizerCases(info, group, float32_matmul).cases(level)

    group = Group("optimizer", info.optim_cls.__name__, "float32", make)
    return group

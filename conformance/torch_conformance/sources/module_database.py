"""Cases from PyTorch's module database: forward, parameters' gradients, training and evaluation."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from ..case import Case, Group, Level
from ..oracle.noise import arithmetic_for, spread_of
from ..oracle.operator import cotangent, differentiable, wide_default
from ..oracle.reference import undisturbed
from ..tensors import digest, host, tensors_of, to_device, widened
from ..trial import NotApplicableError, Trial
from .op_database import seed_all

RANDOM = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "RReLU", "FractionalMaxPool")
"""Modules that draw numbers while they train: they are compared in evaluation only."""


class ModuleCases:
    """All cases of one module class in one dtype."""

    def __init__(self, info: Any, dtype: torch.dtype, group: Group, float32_matmul: str) -> None:
        self.info = info
        self.dtype = dtype
        self.group = group
        self.float32_matmul = float32_matmul

    def cases(self, level: Level) -> Iterator[Case]:
        for training in (True, False):
            if training and self.info.module_cls.__name__.startswith(RANDOM):
                continue
            seed_all()
            variant = "train" if training else "eval"
            made = self.info.module_inputs_func(
                self.info, device="cpu", dtype=self.dtype, requires_grad=True, training=training
            )
            inputs = [m for m in made if m.forward_input is not None]
            for number, module_input in itertools.islice(enumerate(inputs), 2 if level is Level.QUICK else None):
                yield Case(
                    self.group.case_name(variant, "grad", number),
                    functools.partial(self._check, module_input=module_input, training=training),
                    inputs=digest((module_input.forward_input.args, module_input.forward_input.kwargs)),
                )

    def _module(self, module_input: Any) -> torch.nn.Module:
        """The same parameters each time, whatever is computed with them."""
        seed_all()
        constructor = module_input.constructor_input
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        try:
            module: torch.nn.Module = self.info.module_cls(*constructor.args, **constructor.kwargs)
        finally:
            torch.set_default_dtype(default)
        return module.to(self.dtype)

    def _check(self, t: Trial, module_input: Any, training: bool) -> None:
        forward = module_input.forward_input

        def run(device: Any, wide: bool) -> list[torch.Tensor]:
            module = self._module(module_input).train(training)
            _materialise(module, forward)
            arguments = (forward.args, forward.kwargs)
            if wide:
                module, arguments = module.to(torch.float64), widened(arguments)
            module.to(device)
            args, kwargs = to_device(arguments, device)
            seed_all()
            out = module(*args, **kwargs)
            results = [r.detach() for r in tensors_of(out)]
            outs = differentiable(out)
            leaves = [x for x in (*tensors_of((args, kwargs)), *module.parameters()) if x.requires_grad]
            if outs and leaves:
                grads = torch.autograd.grad(
                    outs, leaves, [cotangent(o, i) for i, o in enumerate(outs)], allow_unused=True
                )
                results += [torch.zeros_like(x) if g is None else g for g, x in zip(grads, leaves, strict=True)]
            return results + [b.detach() for b in module.buffers()]

        try:
            with undisturbed():
                want = run("cpu", wide=False)
        except Exception as error:
            raise NotApplicableError(str(error)) from None

        def reference() -> list[torch.Tensor]:
            with wide_default():
                return [host(r).clone() for r in run("cpu", wide=True)]

        got = run(t.device, wide=False)
        for number, (result, like) in enumerate(zip(got, want, strict=True)):
            t.same_metadata(result, like, f"result {number}")
        with undisturbed():
            exact = reference()
        arithmetic = arithmetic_for(self.dtype, self.float32_matmul)
        t.all_close(got, exact, lambda runs: spread_of(reference, exact, arithmetic, runs))


def _materialise(module: torch.nn.Module, forward: Any) -> None:
    """Lazy modules make their parameters at the first call: here, so that all runs have the same."""
    if any(isinstance(p, torch.nn.parameter.UninitializedParameter) for p in module.parameters()):
        seed_all()
        with torch.no_grad():
            module(*forward.args, **forward.kwargs)


def groups(level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each module class and dtype."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        for dtype in (torch.float32,) if level is Level.QUICK else (torch.float32, torch.bfloat16):
            if dtype in info.dtypes or dtype == torch.float32:
                yield _group(info, dtype, float32_matmul)


def _group(info: Any, dtype: torch.dtype, float32_matmul: str) -> Group:
    def make(level: Level) -> Iterable[Case]:
        return ModuleCases(info, dtype, group, float32_matmul).cases(level)

    group = Group("module", info.name, str(dtype).removeprefix("torch."), make)
    return group

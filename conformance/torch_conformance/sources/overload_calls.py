"""Cases that call one overload of aten by name: what PyTorch's databases, which call functions and methods, leave out.

Each entry of the table is called as it is, and then in the out= and in-place forms that PyTorch has of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from ..case import Case, Group, Level
from ..coverage import needing_a_kernel
from ..oracle.operator import Arguments, Sample, results_of
from ..oracle.reference import undisturbed
from ..tensors import digest, tensors_of
from ..trial import NotApplicableError, Trial
from .op_database import seed_all
from .overload_table import TABLE, Call


def overload(name: str) -> Any:
    base, _, kind = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), kind or "default")


def _inputs_of(op: Any) -> list[tuple[str, str]]:
    return [(a.name, str(a.type)) for a in op._schema.arguments if not a.is_out]


def _packet(base: str) -> list[Any]:
    packet = getattr(torch.ops.aten, base, None)
    return [] if packet is None else [getattr(packet, kind) for kind in packet.overloads()]


def forms_of(name: str) -> Iterator[tuple[str, Any]]:
    """The out= and in-place overloads with the same arguments that have a kernel of their own."""
    op = overload(name)
    base = name.partition(".")[0]
    if any(a.is_out for a in op._schema.arguments) or base.endswith("_"):
        return
    own = [o for o in (*_packet(base), *_packet(f"{base}_")) if o.name() in needing_a_kernel()]
    same = [o for o in own if _inputs_of(o) == _inputs_of(op)]
    for other in same:
        if any(a.is_out for a in other._schema.arguments):
            yield "out", other
        elif other._schema.name == f"aten::{base}_":
            yield "inplace", other


class OverloadCases:
    """All cases of one entry."""

    def __init__(self, name: str, call: Call, group: Group, float32_matmul: str) -> None:
        self.name = name
        self.call = call
        self.group = group
        self.float32_matmul = float32_matmul
        self.op = overload(name)

    def cases(self) -> Iterator[Case]:
        sample = self._sample(self.op)
        inputs = digest((sample.arguments.args, sample.arguments.kwargs))
        yield self._case("functional", functools.partial(self._check, sample=sample), inputs)
        for variant, op in forms_of(self.name):
            check = self._check_out if variant == "out" else self._check_inplace
            yield self._case(variant, functools.partial(check, op=op, sample=sample), "", self._number(op))

    def _number(self, op: Any) -> int:
        """Several out= overloads (`out`, `grad_input`) count on, by name."""
        names = sorted(str(other) for variant, other in forms_of(self.name) if variant == "out")
        return names.index(str(op)) if str(op) in names else 0

    def _case(self, variant: str, body: Callable[[Trial], None], inputs: str, number: int = 0) -> Case:
        return Case(self.group.case_name(variant, "value", number), body, self.call.features, inputs)

    def _arguments(self) -> Arguments:
        args, kwargs = self.call.arguments()
        return Arguments(None, args, dict(kwargs)).copy()

    def _sample(self, op: Any) -> Sample:
        """The results, then the arguments, some of which the operator may write."""

        def function(a: Arguments) -> list[torch.Tensor]:
            return [*results_of(op(*a.args, **a.kwargs)), *a.tensors()]

        return Sample(self._arguments(), function, self.float32_matmul, None, self.call.typed)

    @staticmethod
    def _want(t: Trial, sample: Sample) -> list[torch.Tensor]:
        if isinstance(sample.expected, Exception):
            raise NotApplicableError(str(sample.expected))
        t.require_claimed(sample.expected)
        return list(sample.expected)

    @staticmethod
    def _require_cpu(call: Callable[[], Any]) -> None:
        try:
            with undisturbed():
                call()
        except Exception as error:
            raise NotApplicableError(f"the CPU refuses it: {error}") from None

    def _compare(self, t: Trial, sample: Sample, got: list[torch.Tensor]) -> None:
        want = self._want(t, sample)
        t.require(len(got) == len(want), "type", f"{len(got)} results and arguments, expected {len(want)}")
        for number, (result, reference) in enumerate(zip(got, want, strict=True)):
            t.same_metadata(result, reference, f"result {number}")
        t.informative = True
        if not self.call.draws:
            with torch.no_grad():
                t.all_close(got, sample.exact, sample.spread)

    def _check(self, t: Trial, sample: Sample) -> None:
        self._want(t, sample)
        arguments = sample.arguments.on(t.device)
        seed_all()
        out = self.op(*arguments.args, **arguments.kwargs)
        # Numbers come back to the host.
        results = [r if isinstance(r, torch.Tensor) else torch.tensor(r, device=t.device) for r in _leaves(out)]
        self._compare(t, sample, [*results, *arguments.tensors()])

    def _check_out(self, t: Trial, op: Any, sample: Sample) -> None:
        """Into tensors of the right shape, and into empty ones."""
        results = len(self._want(t, sample)) - len(sample.arguments.tensors())
        names = [a.name for a in op._schema.arguments if a.is_out]
        want = self._want(t, sample)[:results]
        if len(names) != results:
            raise NotApplicableError("it returns what it does not write")
        for resize in (False, True):
            # Some operators that draw crash on the CPU if they have to resize.
            if resize and self.call.draws:
                continue
            given = sample.arguments.copy()
            outs = _targets(names, want, resize, torch.device("cpu"))
            try:
                self._require_cpu(functools.partial(op, *given.args, **given.kwargs, **outs))
            except NotApplicableError:
                if resize:
                    continue
                raise
            arguments = sample.arguments.on(t.device)
            outs = _targets(names, want, resize, t.device)
            seed_all()
            returned = tensors_of(op(*arguments.args, **arguments.kwargs, **outs))
            for target, result in zip(outs.values(), returned, strict=False):
                t.require(target is result, "alias", "out= was not what the operator returned")
            self._compare(t, sample, [*outs.values(), *arguments.tensors()])

    def _check_inplace(self, t: Trial, op: Any, sample: Sample) -> None:
        arguments = sample.arguments.on(t.device)
        target = tensors_of(arguments.args)[0]
        reference = self._sample(op)
        want = self._want(t, reference)
        seed_all()
        returned = tensors_of(op(*arguments.args, **arguments.kwargs))
        t.require(returned[0] is target, "alias", "an in-place operator did not return its operand")
        t.require(len(returned) + len(arguments.tensors()) == len(want), "type", "a result is missing")
        self._compare(t, reference, [*returned, *arguments.tensors()])


def _targets(names: list[str], want: list[torch.Tensor], resize: bool, device: torch.device) -> dict[str, torch.Tensor]:
    """What an out= form writes to. Of zeros: one of PyTorch's kernels adds to what is there."""
    shapes = [(0,) if resize else w.shape for w in want]
    return {n: torch.zeros(s, dtype=w.dtype, device=device) for n, s, w in zip(names, shapes, want, strict=True)}


def _leaves(out: Any) -> list[Any]:
    if out is None:
        return []
    return list(out) if isinstance(out, tuple | list) else [out]


def groups(_level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each entry of the table."""
    with undisturbed():
        for name, call in TABLE.items():
            yield _group(name, call, float32_matmul)


def _group(name: str, call: Call, float32_matmul: str) -> Group:
    def make(_level: Level) -> Iterable[Case]:
        return OverloadCases(name, call, group, float32_matmul).cases()

    group = Group("overload", name, "float32", make, constant="asserts values")
    return group

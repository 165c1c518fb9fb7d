"""Cases from PyTorch's operator database: every sample, called in every way, and derived."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy
import torch

from ..case import Case, Group, Level
from ..oracle.exceptions import CONSTANT, KINKS, RANDOM, TYPED_REFERENCE, UNINITIALISED
from ..oracle.gauge import GAUGES
from ..oracle.operator import (
    Arguments,
    Derive,
    Sample,
    gradients,
    results_of,
    same_layout,
    second_gradients,
    tangents,
)
from ..oracle.reference import undisturbed
from ..tensors import digest, dtype_name, same_bits, tensors_of
from ..trial import CheckError, NotApplicableError, Trial
from .extra_samples import EXTRA, FIRST

QUICK_DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
QUICK_SAMPLES = {torch.float32: 3}
"""Samples of an operator at level quick; two in other dtypes."""
QUICK_POOL = 300
"""The first samples, of which these are chosen."""
LARGE = 1_000_000
"""Elements of a sample that only level exhaustive takes: its disturbed runs take seconds each, and the database has
smaller samples of the same operators (grid_sampler_3d's take a third of level full otherwise)."""
LARGE_TWICE = 50_000
"""Likewise for second derivatives."""
FACTORIES = ("arange", "linspace", "logspace")
"""Operators some of whose samples leave the device out, and so would stay on the host."""
HOST_ARGUMENTS = ("tensor_split",)
"""Operators whose tensor arguments beside the input belong on the host, as PyTorch documents."""


def seed_all(seed: int = 0) -> None:
    """The same samples in each process (together with PYTHONHASHSEED=0)."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


def full_name(info: Any) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


def _elements(sample: Any) -> int:
    return sum(t.numel() for t in tensors_of((sample.input, sample.args, sample.kwargs)))


class OperatorCases:
    """All cases of one entry of the database in one dtype."""

    def __init__(self, info: Any, dtype: torch.dtype, group: Group, level: Level, float32_matmul: str) -> None:
        self.info = info
        self.dtype = dtype
        self.group = group
        self.level = level
        self.float32_matmul = float32_matmul
        name = full_name(info)
        self.shapes_only = name in RANDOM or name in UNINITIALISED
        self.random = name in RANDOM
        self.typed = name in TYPED_REFERENCE or info.name in TYPED_REFERENCE
        self.gauge = GAUGES.get(name) or GAUGES.get(info.name)
        self.host_args = info.name in HOST_ARGUMENTS

    def cases(self) -> Iterator[Case]:
        yield from self._forward()
        if self.dtype in self.info.supported_backward_dtypes("cpu") and self.info.supports_autograd:
            yield from self._derivatives()
        if self.info.error_inputs_func is not None and self.dtype == torch.float32:
            yield from self._errors()

    def _samples(self, requires_grad: bool) -> list[tuple[int, Any]]:
        seed_all()
        made = enumerate(self.info.sample_inputs("cpu", self.dtype, requires_grad=requires_grad))
        extra = list(enumerate(self._extra_samples(requires_grad), FIRST))
        if self.level is not Level.QUICK:
            every = [*made, *extra]
            return every if self.level is Level.EXHAUSTIVE else [each for each in every if _elements(each[1]) <= LARGE]
        keep = QUICK_SAMPLES.get(self.dtype, 2)
        chosen: list[tuple[int, Any]] = []
        rest: list[tuple[int, Any]] = []
        for number, sample in itertools.islice(made, QUICK_POOL):
            (chosen if self._shows_something(sample) else rest).append((number, sample))
            if len(chosen) == 6 * keep:
                break
        step = max(1, len(chosen) // keep)  # neighbours are often alike
        picked = dict((chosen[step - 1 :: step] + chosen + rest)[:keep])
        return [*sorted(picked.items()), *extra]

    def _shows_something(self, made: Any) -> bool:
        """Neither empty nor a single number, and with a result that is not all 0."""
        if sum(t.numel() for t in tensors_of((made.input, made.args))) < 4:
            return False
        try:
            if self.shapes_only:
                return True
            with torch.no_grad():
                out = results_of(self.info.op(made.input, *made.args, **made.kwargs))
            return any(bool((t != 0).any()) for t in out if t.numel() and t.layout == torch.strided)
        except Exception:  # shown by the case itself
            return False

    def _extra_samples(self, requires_grad: bool) -> list[Any]:
        from torch.testing._internal.opinfo.core import SampleInput

        name = full_name(self.info)
        if requires_grad or name not in EXTRA:
            return []
        return [SampleInput(value, args=args, kwargs=kwargs) for value, args, kwargs in EXTRA[name](self.dtype)]

    def _arguments(self, made: Any) -> Arguments:
        kwargs = dict(made.kwargs)
        if self.info.name in FACTORIES:
            kwargs.setdefault("device", torch.device("cpu"))
        return Arguments(made.input, made.args, kwargs, self.host_args)

    def _sample(self, made: Any, function: Callable[..., Any]) -> Sample:
        arguments = self._arguments(made)
        return Sample(arguments, lambda a: a.call(function), self.float32_matmul, self.gauge, self.typed)

    # Forward ---------------------------------------------------------------------------------------

    def _forward(self) -> Iterator[Case]:
        for number, made in self._samples(requires_grad=False):
            with torch.no_grad():
                sample = self._sample(made, self.info.op)
                name = self.group.case_name
                inputs = digest((made.input, made.args, made.kwargs))
                body = functools.partial(self._value, sample=sample)
                yield Case(name("functional", "value", number), body, inputs=inputs)
                yield Case(name("functional", "layout", number), functools.partial(self._layout, sample=sample))
                if any(sample.written()) and not self.random:
                    yield Case(name("functional", "arguments", number), functools.partial(self._written, made=made))
                method, inplace = self.info.method_variant, self.info.inplace_variant
                if method is not None:
                    yield Case(
                        name("method", "value", number), functools.partial(self._value, sample=sample, function=method)
                    )
                if inplace is not None and not made.broadcasts_input and not self.random:
                    yield Case(
                        name("inplace", "value", number),
                        functools.partial(self._inplace, sample=sample, function=inplace),
                    )
                if self.info.supports_out and not self.random:
                    yield Case(name("out", "value", number), functools.partial(self._out, sample=sample, resize=False))
                    if number % 3 == 0:
                        yield Case(
                            name("out", "resize", number), functools.partial(self._out, sample=sample, resize=True)
                        )

    @staticmethod
    def _expected(trial: Trial, sample: Sample) -> list[torch.Tensor]:
        if isinstance(sample.expected, Exception):
            raise NotApplicableError(str(sample.expected))
        want = results_of(sample.expected)
        trial.require_claimed([*want, *sample.arguments.tensors()])
        return want

    def _run(self, trial: Trial, sample: Sample, function: Callable[..., Any]) -> tuple[Arguments, Any]:
        arguments = sample.arguments.on(trial.device)
        seed_all()
        return arguments, arguments.call(function)

    def _value(self, trial: Trial, sample: Sample, function: Callable[..., Any] | None = None) -> None:
        want = self._expected(trial, sample)
        _, out = self._run(trial, sample, function or self.info.op)
        got = results_of(out)
        trial.require(len(got) == len(want), "type", f"{len(got)} results, expected {len(want)}")
        for number, (result, reference) in enumerate(zip(got, want, strict=True)):
            if number < len(tensors_of(out)):
                trial.same_metadata(result, reference, f"result {number}")
        if self.shapes_only:
            trial.informative = True
            return
        trial.inputs = digest(sample.arguments.input)
        with torch.no_grad():
            self._close(trial, sample, sample.of_device(out), sample.exact, sample.spread)

    @staticmethod
    def _close(trial: Trial, sample: Sample, got: list[torch.Tensor], exact: list[torch.Tensor], spread: Any) -> None:
        """Values within the bound, unless they are drawn."""
        try:
            trial.all_close(got, exact, spread)
        except CheckError:
            if not sample.draws:
                raise
            trial.informative = True

    def _layout(self, trial: Trial, sample: Sample) -> None:
        self._expected(trial, sample)
        arguments, out = self._run(trial, sample, self.info.op)
        inputs = sample.expected_arguments.tensors()
        pairs = zip(tensors_of(out), tensors_of(sample.expected), strict=True)
        for number, (got, want) in enumerate(pairs):
            if not same_layout(got, want):
                raise CheckError("layout", f"result {number} has {_layout_text(got)}, expected {_layout_text(want)}")
            ours, theirs = _alias(got, arguments.tensors()), _alias(want, inputs)
            trial.require(
                ours == theirs, "alias", f"result {number} shares memory with arguments {ours}, expected {theirs}"
            )
            bits = (got.is_conj(), got.is_neg())
            # A result of its own may be conjugated already.
            if theirs:
                trial.require(bits == (want.is_conj(), want.is_neg()), "layout", f"lazy conj/neg bits are {bits}")
        pairs_of_arguments = zip(arguments.tensors(), sample.arguments.tensors(), sample.written(), strict=True)
        for number, (after, before, written) in enumerate(pairs_of_arguments):
            trial.require(written or same_bits(after, before), "argument", f"argument {number} was changed")
        trial.informative = True

    def _written(self, trial: Trial, made: Any) -> None:
        """What the operator writes to its arguments, such as a mean that runs along."""

        def arguments_after(a: Arguments) -> list[torch.Tensor]:
            a.call(self.info.op)
            return a.tensors()

        sample = Sample(self._arguments(made), arguments_after, self.float32_matmul)
        self._expected(trial, sample)
        arguments = sample.arguments.on(trial.device)
        trial.all_close(arguments_after(arguments), sample.exact, sample.spread)

    def _inplace(self, trial: Trial, sample: Sample, function: Callable[..., Any]) -> None:
        host_arguments = sample.arguments.copy()
        try:
            with undisturbed():
                want = host_arguments.call(function)
        except Exception:
            self._must_raise(trial, sample, lambda a: a.call(function))
            return
        arguments, out = self._run(trial, sample, function)
        target = arguments.input if isinstance(arguments.input, torch.Tensor) else tensors_of(arguments.input)[0]
        trial.require(out is target, "alias", "an in-place operator did not return its operand")
        trial.same_metadata(out, want)
        if self.shapes_only:
            return
        trial.require(same_layout(out, want), "layout", f"the operand's strides became {out.stride()}")
        # The same numbers as the functional form's, unless the operand's dtype can't hold them.
        if isinstance(sample.expected, torch.Tensor) and sample.expected.dtype == want.dtype:
            trial.all_close(sample.of_device(out), sample.exact, sample.spread)
        else:
            trial.equal(out, want)

    def _out(self, trial: Trial, sample: Sample, resize: bool) -> None:
        want = self._expected(trial, sample)
        if not all(isinstance(w, torch.Tensor) for w in want) or not isinstance(sample.expected, torch.Tensor | tuple):
            raise NotApplicableError("no tensors to write to")

        def outs(device: torch.device | str) -> Any:
            made = []
            for w in want:
                shape = (0,) if resize else tuple(w.shape)
                made.append(torch.full(shape, 1, dtype=w.dtype, device=device))
            return made[0] if isinstance(sample.expected, torch.Tensor) else tuple(made)

        try:
            with undisturbed():
                sample.arguments.copy().call(self.info.op, out=outs("cpu"))
        except Exception:
            self._must_raise(trial, sample, lambda a: a.call(self.info.op, out=outs(trial.device)))
            return
        arguments = sample.arguments.on(trial.device)
        targets = outs(trial.device)
        seed_all()
        returned = arguments.call(self.info.op, out=targets)
        for target, result in zip(tensors_of(targets), tensors_of(returned), strict=False):
            trial.require(target is result, "alias", "out= was not what the operator returned")
        for target, reference in zip(tensors_of(targets), want, strict=True):
            trial.same_metadata(target, reference, "out=")
        if not self.shapes_only:
            with torch.no_grad():
                trial.all_close(sample.of_device(targets), sample.exact, sample.spread)

    def _must_raise(self, trial: Trial, sample: Sample, call: Callable[[Arguments], Any]) -> None:
        arguments = sample.arguments.on(trial.device)
        trial.raises((RuntimeError, ValueError, TypeError, IndexError), lambda: call(arguments))
        trial.informative = True

    # Derivatives -----------------------------------------------------------------------------------

    def _derivatives(self) -> Iterator[Case]:
        if self.shapes_only:
            return
        kinds: list[tuple[str, Derive]] = [("grad", gradients)]
        if self.level is not Level.QUICK and self.dtype in (torch.float32, torch.complex64):
            if self.info.supports_gradgrad:
                kinds.append(("gradgrad", second_gradients))
            if self.info.supports_forward_ad and self.info.name not in KINKS:
                kinds.append(("forward_ad", tangents))
        if self.level is Level.QUICK and self.dtype != torch.float32:
            return
        samples = self._samples(requires_grad=True)
        for number, made in samples[:1] if self.level is Level.QUICK else samples:
            process = made.output_process_fn_grad

            def function(a: Arguments, p: Any = process) -> Any:
                return p(a.call(self.info.op))

            arguments = self._arguments(made)
            sample = Sample(arguments, function, self.float32_matmul)
            inputs = digest((made.input, made.args, made.kwargs))
            twice = self.level is Level.EXHAUSTIVE or _elements(made) <= LARGE_TWICE
            for aspect, derive in kinds:
                if aspect == "gradgrad" and not twice:
                    continue
                yield Case(
                    self.group.case_name("functional", aspect, number),
                    functools.partial(self._derivative, sample=sample, derive=derive),
                    inputs=inputs,
                )

    def _derivative(self, trial: Trial, sample: Sample, derive: Derive) -> None:
        seed_all()
        try:
            with undisturbed():
                want = derive(sample.arguments.copy(), sample.function)
        except Exception as error:  # the CPU has no such derivative
            raise NotApplicableError(str(error)) from None
        if not want:
            raise NotApplicableError("nothing to differentiate")
        self._expected(trial, sample)
        seed_all()
        got = derive(sample.arguments.on(trial.device), sample.function)
        trial.require(len(got) == len(want), "type", f"{len(got)} derivatives, expected {len(want)}")
        for number, (result, reference) in enumerate(zip(got, want, strict=True)):
            trial.same_metadata(result, reference, f"derivative {number}")
        try:
            exact, spread = sample.derivative(derive)
        except Exception as error:  # no float64 kernel behind it
            raise NotApplicableError(str(error)) from None
        self._close(trial, sample, got, exact, spread)

    # Errors ----------------------------------------------------------------------------------------

    def _errors(self) -> Iterator[Case]:
        seed_all()
        made = enumerate(self.info.error_inputs("cpu"))
        for number, error in itertools.islice(made, 2) if self.level is Level.QUICK else made:
            yield Case(self.group.case_name("functional", "error", number), functools.partial(self._error, error=error))

    def _error(self, trial: Trial, error: Any) -> None:
        made = error.sample_input
        arguments = self._arguments(made)
        try:
            with undisturbed():
                arguments.copy().call(self.info.op)
        except Exception as raised:  # which kind, PyTorch decides, not the database
            kind = type(raised)
        else:
            raise NotApplicableError("the CPU accepts it")
        if any(t.is_meta for t in arguments.tensors()):
            raise NotApplicableError("a tensor without data can't be moved")
        trial.require_claimed(arguments.tensors())
        moved = arguments.on(trial.device)
        related: tuple[type[Exception], ...] = (kind,)
        if issubclass(kind, IndexError | ValueError | RuntimeError | TypeError):
            # PyTorch's own kernels for one operator differ in these.
            related = (IndexError, RuntimeError, ValueError) + ((TypeError,) if kind is TypeError else ())
        trial.raises(related, lambda: moved.call(self.info.op))
        trial.informative = True
        probe = torch.ones(3, device=trial.device) + 1
        if probe.cpu().tolist() != [2.0, 2.0, 2.0]:
            raise CheckError("poisoned", "after the error, 1 + 1 is no longer 2")


def _layout_text(tensor: torch.Tensor) -> str:
    if tensor.layout != torch.strided:
        return f"layout {tensor.layout}"
    return f"strides {tensor.stride()} for shape {tuple(tensor.shape)}"


def _alias(tensor: torch.Tensor, others: list[torch.Tensor]) -> list[int]:
    """Which of `others` share the tensor's storage."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return []
    address = tensor.untyped_storage().data_ptr()
    return [
        i
        for i, other in enumerate(others)
        if other.layout == torch.strided and other.numel() and other.untyped_storage().data_ptr() == address
    ]


def groups(level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each entry and dtype."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        dtypes = info.supported_dtypes("cpu")
        for dtype in sorted(dtypes, key=str):
            if level is Level.QUICK and dtype not in QUICK_DTYPES:
                continue
            yield _group(info, dtype, float32_matmul)


def _group(info: Any, dtype: torch.dtype, float32_matmul: str) -> Group:
    def make(level: Level) -> Iterable[Case]:
        return OperatorCases(info, dtype, group, level, float32_matmul).cases()

    name = full_name(info)
    keys = (name, info.name, f"{name}.{dtype_name(dtype)}")
    reasons = [table[key] for table in (CONSTANT, RANDOM, UNINITIALISED) for key in keys if key in table]
    group = Group("op", name, dtype_name(dtype), make, constant=reasons[0] if reasons else "")
    return group

"""Special numbers and the ends of each dtype; arithmetic that rounds once; casts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

from ..oracle.noise import arithmetic_for, spread_of
from ..oracle.reference import undisturbed
from ..sources.own_cases import own
from ..tensors import WIDE, widened
from ..trial import NotApplicableError, Trial
from ..words import words
from . import agree

FLOATING = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

UNARY = words(
    """
    abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp exp2 expm1 floor frac i0 isfinite
    isinf isnan lgamma log log10 log1p log2 logical_not neg reciprocal relu round rsqrt sgn sigmoid sign signbit sin
    sinh sqrt square tan tanh trunc
    """
)

BINARY = words(
    """
    add sub mul div atan2 copysign eq fmax fmin ge gt heaviside hypot le logaddexp lt maximum minimum ne nextafter
    pow xlogy
    """
)


def specials(dtype: torch.dtype) -> torch.Tensor:
    numbers = torch.finfo(dtype)
    inf = float("inf")
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, inf, -inf, float("nan"), numbers.max, numbers.min]
    values += [numbers.tiny, -numbers.tiny, numbers.eps, 1 + numbers.eps, 1 - numbers.eps / 2]
    values += [numbers.tiny / 4, -3 * numbers.tiny / 4]  # subnormal
    return torch.tensor(values, dtype=torch.float64).to(dtype)


def _judge(t: Trial, function: Callable[..., Any], *operands: torch.Tensor) -> None:
    """Against float64, by the rule; special results exactly. NaN results where the CPU of the dtype
    overflows are its own affair: float64 does not."""
    try:
        function(*operands)
    except RuntimeError:
        raise NotApplicableError("the CPU has no kernel") from None
    got = function(*(x.to(t.device) for x in operands))

    def run() -> list[torch.Tensor]:
        return [function(*widened(operands))]

    with undisturbed():
        (exact,) = run()
    arithmetic = arithmetic_for(operands[0].dtype, "float32")
    t.close(got, exact, (lambda runs: spread_of(run, [exact], arithmetic, runs)) if got.dtype in WIDE else None)


for _name in UNARY:

    @own(f"corners.{_name}.special.value", FLOATING)
    def unary(t: Trial, dtype: torch.dtype, name: str = _name) -> None:
        _judge(t, getattr(torch, name), specials(dtype))


for _name in BINARY:

    @own(f"corners.{_name}.special.value", FLOATING)
    def binary(t: Trial, dtype: torch.dtype, name: str = _name) -> None:
        one = specials(dtype)
        if name == "nextafter":
            agree(t, lambda d: torch.nextafter(one.to(d)[:, None], one.to(d)))
            return
        _judge(t, getattr(torch, name), one[:, None].expand(len(one), len(one)).contiguous(), one)


def _random(dtype: torch.dtype, seed: int, count: int = 4001) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    exponents = torch.randint(-12, 13, (count,), generator=generator).double()
    return (torch.randn(count, generator=generator, dtype=torch.float64) * torch.exp2(exponents)).to(dtype)


for _name in ("add", "sub", "mul", "div"):

    @own(f"corners.{_name}.correctly_rounded.value", (torch.float32, torch.bfloat16, torch.float16))
    def rounded_once(t: Trial, dtype: torch.dtype, name: str = _name) -> None:
        """The nearest number of the dtype, ties to even: float64 has enough bits to tell."""
        a, b = _random(dtype, 1), _random(dtype, 2)
        want = getattr(torch, name)(a.double(), b.double()).to(dtype)
        t.equal(getattr(torch, name)(a.to(t.device), b.to(t.device)), want)


@own("corners.sqrt.correctly_rounded.value", (torch.bfloat16, torch.float16))
def square_root_rounded_once(t: Trial, dtype: torch.dtype) -> None:
    """Not of float32: PyTorch's own vectorised one is a unit off at times."""
    a = _random(dtype, 3).abs()
    t.equal(a.to(t.device).sqrt(), a.double().sqrt().to(dtype))


@own("corners.zero.signs.value", FLOATING)
def zeros_keep_their_sign(t: Trial, dtype: torch.dtype) -> None:
    """Where IEEE 754 says which zero it is."""

    def compute(d: Any) -> list[Any]:
        x = torch.tensor([0.0, -0.0, 0.25, -0.25, 2.0, -2.0], dtype=dtype, device=d)
        zeros = x[:2]
        return [
            -x, x.abs(), x.floor(), x.ceil(), x.round(), x.trunc(), x[:3].sqrt(), x * zeros[1], x * zeros[0],
            torch.copysign(x, zeros[1]), zeros / 2, zeros / -2, zeros[:, None] + zeros, zeros[:, None] - zeros,
            x.signbit(), zeros.clone(), zeros.to(torch.float32), zeros.flip(0), zeros.sort(stable=True), zeros.sign(),
        ]  # fmt: skip

    agree(t, compute)


@own("corners.softmax.large.value", (torch.float32, torch.bfloat16))
def exponentials_that_overflow(t: Trial, dtype: torch.dtype) -> None:
    """The exponential of the largest number is infinite; the result is not."""

    def run(x: torch.Tensor) -> list[torch.Tensor]:
        return [
            x.softmax(1), x.log_softmax(1), x.logsumexp(1), torch.nn.functional.softplus(x), x.sigmoid(), x.tanh(),
            torch.logaddexp(x, x.flip(1)), torch.nn.functional.silu(x), torch.nn.functional.gelu(x),
            torch.nn.functional.logsigmoid(x), x.logcumsumexp(1), torch.nn.functional.cross_entropy(x, x.argmin(1)),
        ]  # fmt: skip

    x = torch.tensor([[1000.0, 1001.0, -1000.0, 3.0], [-2000.0, -2001.0, -1999.0, -2004.0]], dtype=dtype)
    with undisturbed():
        exact = run(x.double())
    arithmetic = arithmetic_for(dtype, "float32")
    t.all_close(run(x.to(t.device)), exact, lambda runs: spread_of(lambda: run(x.double()), exact, arithmetic, runs))


CASTS = (*FLOATING, *INTEGERS, torch.bool)


def _castable(source: torch.dtype, target: torch.dtype) -> torch.Tensor:
    """Numbers whose cast is defined: floats beyond an integer's range are not."""
    if source.is_floating_point and target.is_floating_point:
        ties = torch.tensor([1.00390625, 1.01171875, -1.00390625, 257.0, 65519.0, 65520.0, 1e-8, 3.4e38, 1e-40])
        return torch.cat([specials(source), ties.to(source), _random(source, 4, 500)])
    if source.is_floating_point:
        values = [0.0, 0.5, 0.99, 1.5, 2.5, 100.75, 126.0]
        if target == torch.bool:
            return torch.tensor([*values, -0.25, float("inf"), float("nan"), -3.0]).to(source)
        numbers = torch.iinfo(target)
        more = [-0.75, -1.5, -2.5, -127.0, 255.5, 1000.75, -1000.75, 32767.5, 65000.5, -(2.0**30), 2.0**24 + 1, 2.0**40]
        within = [v for v in more if numbers.min <= v < numbers.max and abs(v) < torch.finfo(source).max]
        return torch.tensor(values + within, dtype=torch.float64).to(source)
    integers = torch.tensor([0, 1, 2, 127, 128, 255, 256, 1000, 65535, 2**31 - 1, 2**31, 2**53 + 1, -1, -128, -129])
    return integers.to(source)


for _source, _target in itertools.product(CASTS, CASTS):

    @own(f"corners.cast.to_{str(_target).removeprefix('torch.')}.value", (_source,))
    def cast(t: Trial, dtype: torch.dtype, target: torch.dtype = _target) -> None:
        agree(t, lambda d: _castable(dtype, target).to(d).to(target))


def ends(dtype: torch.dtype) -> torch.Tensor:
    numbers = torch.iinfo(dtype)
    values = [numbers.min, numbers.min + 1, -7, -3, -2, -1, 0, 1, 2, 3, 7, numbers.max - 1, numbers.max]
    return torch.tensor([v for v in values if v >= numbers.min], dtype=dtype)


for _name in ("add", "sub", "mul", "eq", "lt", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"):

    @own(f"corners.{_name}.ends.value", INTEGERS)
    def integer(t: Trial, dtype: torch.dtype, name: str = _name) -> None:
        """Integers wrap around."""
        agree(t, lambda d: getattr(torch, name)(ends(dtype).to(d)[:, None], ends(dtype).to(d)))


for _name in ("floor_divide", "remainder", "fmod"):

    @own(f"corners.{_name}.signs.value", INTEGERS)
    def division(t: Trial, dtype: torch.dtype, name: str = _name) -> None:
        """Of negative numbers, by negative numbers."""
        a = ends(dtype)
        b = torch.tensor([v for v in (-3, -2, 1, 2, 3, 5) if v >= torch.iinfo(dtype).min], dtype=dtype)
        agree(t, lambda d: getattr(torch, name)(a.to(d)[:, None], b.to(d)))


for _name in ("floor_divide", "remainder", "fmod"):

    @own(f"corners.{_name}.signs_float.value", (torch.float32, torch.float64))
    def float_division(t: Trial, dtype: torch.dtype, name: str = _name) -> None:
        a = torch.tensor([-7.5, -7.0, -1.0, -0.25, 0.0, 0.25, 1.0, 7.0, 7.5], dtype=dtype)
        b = torch.tensor([-3.0, -0.5, 0.5, 2.0, 3.0], dtype=dtype)
        agree(t, lambda d: getattr(torch, name)(a.to(d)[:, None], b.to(d)))


@own("corners.neg.ends.value", INTEGERS)
def negation_and_modulus(t: Trial, dtype: torch.dtype) -> None:
    agree(t, lambda d: [-ends(dtype).to(d), ends(dtype).to(d).abs(), ends(dtype).to(d).sign(), ~ends(dtype).to(d)])


@own("corners.shift.amounts.value", (torch.int32, torch.int64, torch.int16, torch.uint8))
def shifts(t: Trial, dtype: torch.dtype) -> None:
    amounts = torch.arange(torch.iinfo(dtype).bits - 1).to(dtype)
    agree(t, lambda d: [ends(dtype).to(d)[:, None] << amounts.to(d), ends(dtype).to(d)[:, None] >> amounts.to(d)])


@own("corners.pow.integers.value", INTEGERS)
def integer_powers(t: Trial, dtype: torch.dtype) -> None:
    base = torch.tensor([0, 1, 2, 3, 7, 11]).to(dtype)
    agree(t, lambda d: [base.to(d)[:, None] ** torch.arange(12).to(dtype).to(d), base.to(d) ** 2, 2 ** base.to(d)])


NAN_ROW = [1.0, float("nan"), 3.0, -2.0]


@own("corners.reduce.nan.value", (torch.float32, torch.bfloat16))
def nan_wins(t: Trial, dtype: torch.dtype) -> None:
    """In max, min, sort and friends NaN is larger than all numbers; fmax and fmin leave it out."""

    def compute(d: Any) -> list[Any]:
        x = torch.tensor([NAN_ROW, [4.0, 5.0, 6.0, 7.0]], dtype=dtype, device=d)
        return [
            x.max(), x.min(), x.amax(1), x.amin(1), x.argmax(1), x.argmin(1), x.max(1), x.min(1), x.sum(1),
            x.sort(dim=1, stable=True), x.sort(dim=1, descending=True, stable=True), x.cummax(1), x.cummin(1),
            x.topk(2, 1).values, torch.maximum(x[0], x[1]), torch.fmax(x[0], x[1]), x.clamp(0, 4), torch.relu(x),
            x.nansum(1), x.nanmedian(1).values, x.median(1).values, x.nan_to_num(9.0), x == x.clone(), x.isnan(),
            torch.where(x > 2, x, 0), x.cumsum(1), x.cumprod(1), x.prod(1), x.mean(1), x.any(1), x.logical_not(),
            x.unique(), x.kthvalue(3, 1).values, x.argsort(stable=True), x.count_nonzero(1), x.diff(), x.flip(1),
            torch.isin(x, x[1]), x.clamp_min(0), x.clamp_max(0), x.sign(), x.roll(1), x.where(x.isnan(), x * 0),
            x.mode(1).values,
        ]  # fmt: skip

    agree(t, compute)


@own("corners.reduce.ties.value", (torch.float32, torch.int64))
def the_first_of_equals(t: Trial, dtype: torch.dtype) -> None:
    """Documented: max and min over a dimension and argmax give the first index; stable sorts keep the order."""

    def compute(d: Any) -> list[Any]:
        x = torch.tensor([[3, 5, 5, 1, 1, 5], [2, 2, 2, 2, 2, 2]], dtype=dtype, device=d)
        many = (torch.arange(300, device=d) % 7).to(dtype)
        return [
            x.argmax(1), x.argmin(1), x.max(1), x.min(1), x.sort(dim=1, stable=True),
            x.sort(dim=1, descending=True, stable=True), many.sort(stable=True), many.argmax(), many.argmin(),
            torch.unique(many, return_inverse=True, return_counts=True), x.argmax(), many.argsort(stable=True),
            torch.unique_consecutive(x[0], return_counts=True),
        ]  # fmt: skip

    agree(t, compute)


@own("corners.sum.large.value", (torch.int64, torch.float64))
def all_bits_count(t: Trial, dtype: torch.dtype) -> None:
    """Neighbours that float32 can't tell apart, nor float64 if they are integers; sums are exact, in any order of
    the terms, or wrap."""
    top = 2**62 if dtype == torch.int64 else 2**50
    values = [top + 1, top + 3, top + 2, -top - 1, 5 - top, 2**24 + 1, 2**33 + 1, 3]

    def compute(d: Any) -> list[Any]:
        x = torch.tensor(values, dtype=dtype, device=d)
        m = x[5:].repeat(3, 1)
        return [
            x.sum(), x.cumsum(0), x.amax(), x.amin(), x.argmax(), x.sort(), x.argsort(descending=True, stable=True),
            x.unique(), x == x[0], x[:3].max(0), torch.maximum(x[:3], x[1]), x.flip(0) - x, x.abs(), x[:3].topk(2),
            x[5:].prod(), m.sum(0), m @ m.t().sign(), x.where(x > top + 1, x * 0), x.clamp(3, top + 2), x.median(),
        ]  # fmt: skip

    agree(t, compute)


@own("corners.empty.operators.value", (torch.float32, torch.int64))
def nothing_in_nothing_out(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: Any) -> list[Any]:
        x, m = torch.empty(0, dtype=dtype, device=d), torch.empty(0, 3, dtype=dtype, device=d)
        scalar = torch.tensor(3, dtype=dtype, device=d)
        return [
            x + 1, x.sum(), m.sum(0), m.sum(1), x.prod(), m.t() @ m, torch.cat([x, x]), torch.cat([m, m]), x.sort(),
            x.nonzero(), m[m > 0], x.unique(), m.cumsum(0), m.expand(0, 3).clone(), scalar + scalar, scalar.sum(0),
            scalar.reshape(1), scalar.expand(3).sum(), scalar.nonzero(), torch.stack([scalar, scalar]), x.any(),
            x.all(), m.amax(1), scalar.argmax(), scalar.sort(),
        ]  # fmt: skip

    agree(t, compute)


@own("corners.sum.long.value", (torch.bfloat16, torch.float16))
def long_sums_do_not_stall(t: Trial, dtype: torch.dtype) -> None:
    """A sum of many small numbers needs an accumulator wider than its operands."""
    x = torch.full((30000,), 1.0, dtype=dtype, device=t.device) / 8
    t.close(x.sum(), torch.tensor(3750.0, dtype=torch.float64))
    t.close(x.view(3, 10000).mean(1), torch.full((3,), 0.125, dtype=torch.float64))
    ones = torch.ones(4096, dtype=dtype, device=t.device)
    t.close(
        torch.dot(ones, ones) if dtype != torch.float16 else (ones[None] @ ones[:, None])[0, 0],
        torch.tensor(4096.0).double(),
    )

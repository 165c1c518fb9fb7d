"""Prints coefficients.h: the minimax polynomials of the elementary functions.

Usage: python coefficients.py > ../coefficients.h && clang-format -i ../coefficients.h

Suffixes: F32 for arithmetic in float; F64 for results in double; Wide for float results computed in
double, which need fewer terms.
"""

from __future__ import annotations

import dataclasses

import mpmath
from mpmath import mp, mpf
from remez import Fit, Function, fit

mp.prec = 220

LN2 = mp.log(2)
TINY = mpf(10) ** -25


@dataclasses.dataclass(frozen=True)
class Table:
    """One polynomial: what it is (for the comment), and what `fit` needs."""

    name: str
    text: str
    function: Function
    low: object
    high: object
    degree: int
    weight: Function = lambda x: mpf(1)
    fixed: tuple[float, ...] = ()

    @property
    def type(self) -> str:
        return "float" if self.name.endswith("F32") else "double"


def relative_to(value: Function) -> Function:
    """Weight under which errors of f are seen relative to `value`."""
    return lambda x: 1 / value(x)


def continued(function: Function, limit: object) -> Function:
    """`function` with its limit at 0, where the formula has 0 / 0."""
    return lambda x: mpf(limit) if abs(x) < TINY else function(x)


def absolute_or_zero(function: Function) -> Function:
    """A weight |function|, 0 at 0."""
    return lambda x: mpf(0) if abs(x) < TINY else abs(function(x))


# --- exponential -------------------------------------------------------------------------------

expm1_tail = continued(lambda x: (mpmath.expm1(x) - x) / x**2, 0.5)
expm1_tail_weight = absolute_or_zero(lambda x: x**2 / mpmath.expm1(x))


def exp2(x: mpf) -> mpf:
    return mpf(2) ** x


def exp2_table(name: str, degree: int) -> Table:
    return Table(name, "2^r", exp2, -0.5, 0.5, degree, relative_to(exp2), (1,))


def exp_table(name: str, degree: int) -> Table:
    weight = relative_to(mp.exp)
    return Table(name, "e^r", mp.exp, -LN2 / 2, LN2 / 2, degree, weight, (1, 1))


def expm1_table(name: str, degree: int) -> Table:
    text = "(e^r - 1 - r) / r^2"
    return Table(name, text, expm1_tail, -LN2 / 2, LN2 / 2, degree, expm1_tail_weight)


def tanh_table(name: str, degree: int) -> Table:
    return Table(
        name,
        "((e^(2r) - 1) / 2 - r) / r^2",
        lambda x: 2 * expm1_tail(2 * x),
        -LN2 / 4,
        LN2 / 4,
        degree,
        lambda x: expm1_tail_weight(2 * x) / 2,
    )


# --- logarithm ---------------------------------------------------------------------------------


def log_f32_table() -> Table:
    return Table(
        "kLogF32",
        "(log(1 + f) - f) / f^2",
        continued(lambda x: (mpmath.log1p(x) - x) / x**2, -0.5),
        mpf(-1) / 3,
        mpf(1) / 3,
        8,
        absolute_or_zero(lambda x: x**2 / mpmath.log1p(x)),
        (-0.5,),
    )


def log_table(name: str, degree: int) -> Table:
    def tail(z: mpf) -> mpf:
        s = mpmath.sqrt(z)
        return (2 * mpmath.atanh(s) / s - 2) / z

    largest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    text = "(log((1 + s) / (1 - s)) / s - 2) / s^2 as a function of s^2"
    function = continued(tail, mpf(2) / 3)
    return Table(name, text, function, 0, largest, degree, lambda z: z / 2)


def log_precise_table() -> Table:
    def tail(z: mpf) -> mpf:
        s = mpmath.sqrt(z)
        return (2 * mpmath.atanh(s) / s - 2 - 2 * z / 3) / z**2

    def series(z: mpf) -> mpf:
        return mpmath.fsum(2 * z**k / (2 * k + 5) for k in range(30))

    largest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    return Table(
        "kLogPreciseF64",
        "(log((1 + s) / (1 - s)) / s - 2 - 2/3 s^2) / s^4 as a function of s^2",
        lambda z: series(z) if z < mpf("1e-6") else tail(z),
        0,
        largest,
        7,
        lambda z: z**2 / 2,
    )


# --- trigonometric -----------------------------------------------------------------------------

QUARTER_PI_SQUARED = (mp.pi / 4) ** 2


def of_square(function: Function) -> Function:
    """z -> function(sqrt(z))."""
    return lambda z: function(mpmath.sqrt(z))


def sin_table(name: str, degree: int) -> Table:
    return Table(
        name,
        "(sin(r) - r) / r^3 as a function of r^2",
        continued(of_square(lambda r: (mpmath.sin(r) - r) / r**3), mpf(-1) / 6),
        0,
        QUARTER_PI_SQUARED,
        degree,
        lambda z: z,
    )


def cos_wide_table() -> Table:
    return Table(
        "kCosWide",
        "(cos(r) - 1) / r^2 as a function of r^2",
        continued(of_square(lambda r: (mpmath.cos(r) - 1) / r**2), -0.5),
        0,
        QUARTER_PI_SQUARED,
        3,
        lambda z: z,
    )


def cos_f64_table() -> Table:
    return Table(
        "kCosF64",
        "(cos(r) - 1 + r^2 / 2) / r^4 as a function of r^2",
        continued(of_square(lambda r: (mpmath.cos(r) - 1 + r**2 / 2) / r**4), mpf(1) / 24),
        0,
        QUARTER_PI_SQUARED,
        5,
        lambda z: z**2,
    )


def atan_table(name: str, degree: int) -> Table:
    return Table(
        name,
        "(atan(t) - t) / t^3 as a function of t^2",
        continued(of_square(lambda t: (mpmath.atan(t) - t) / t**3), mpf(-1) / 3),
        0,
        (mp.sqrt(2) - 1) ** 2,
        degree,
        lambda z: z,
    )


def asin_table(name: str, degree: int) -> Table:
    return Table(
        name,
        "(asin(s) - s) / s^3 as a function of s^2",
        continued(of_square(lambda s: (mpmath.asin(s) - s) / s**3), mpf(1) / 6),
        0,
        0.25,
        degree,
        lambda z: z,
    )


# --- error function ----------------------------------------------------------------------------

ERF_SLOPE = 2 / mp.sqrt(mp.pi)  # erf'(0)
ERFC_SHIFT = mpf(2)


def erfc_exponent_table() -> Table:
    return Table(
        "kErfcExponentF32",
        "(-log(erfc(x)) - 2 / sqrt(pi) x) / x^2, weighted for errors relative to erf(x)",
        continued(lambda x: (-mpmath.log(mpmath.erfc(x)) - ERF_SLOPE * x) / x**2, ERF_SLOPE**2 / 2),
        0,
        "3.93",
        7,
        absolute_or_zero(lambda x: mpmath.erfc(x) * x**2 / mpmath.erf(x)),
    )


def minus_expm1_table() -> Table:
    return Table(
        "kMinusExpm1F32",
        "(1 - e^-r - r) / r^2",
        lambda x: -expm1_tail(-x),
        -LN2 / 2,
        LN2 / 2,
        4,
        lambda x: expm1_tail_weight(-x),
    )


def erfcx(x: mpf) -> mpf:
    """e^(x^2) erfc(x)."""
    if x < 20:
        return mpmath.exp(x**2) * mpmath.erfc(x)
    # The asymptotic series; its smallest term is far below the precision wanted.
    term = total = mpf(1)
    for n in range(1, 60):
        term *= -(2 * n - 1) / (2 * x**2)
        total += term
    return total / (x * mp.sqrt(mp.pi))


def erfcx_table(name: str, degree: int, largest_x: float) -> Table:
    """R(t) = (x + 2) erfcx(x) with t = (x - 2) / (x + 2)."""

    def function(t: mpf) -> mpf:
        x = ERFC_SHIFT * (1 + t) / (1 - t)
        return (x + ERFC_SHIFT) * erfcx(x)

    largest = (largest_x - ERFC_SHIFT) / (largest_x + ERFC_SHIFT)
    text = "(x + 2) e^(x^2) erfc(x) as a function of t = (x - 2) / (x + 2)"
    return Table(name, text, function, -1, largest, degree, relative_to(function))


def erf_small_table() -> Table:
    return Table(
        "kErfF64",
        "erf(x) / x - 2 / sqrt(pi) over x^2 as a function of x^2",
        continued(of_square(lambda x: (mpmath.erf(x) / x - ERF_SLOPE) / x**2), -ERF_SLOPE / 3),
        0,
        1,
        12,
        lambda z: z,
    )


def erf_inv(w: mpf) -> mpf:
    """erf_inv(x) / x where w = -log(1 - x^2)."""
    if w < TINY:
        return mp.sqrt(mp.pi) / 2
    x = mpmath.sqrt(-mpmath.expm1(-w))
    small = -mpmath.expm1(mpmath.log1p(-mpmath.exp(-w)) / 2)  # 1 - x without cancellation
    if x < 0.5:
        return mpmath.erfinv(x) / x
    # Newton's method on log(erfc(y)) = log(1 - x); convergence is quadratic.
    y = mpmath.sqrt(w) * mpf("0.8") if w > 1 else mpf("0.6")
    for _ in range(60):
        step = (mpmath.erfc(y) - small) / (ERF_SLOPE * mpmath.exp(-y * y))
        # Newton on the convex erfc from the left converges; limit steps from the right.
        step = max(min(step, mpf("0.5")), mpf("-0.5"))
        y += step
        if abs(step) < mpf(10) ** -45:
            break
    return y / x


def erf_inv_center_table() -> Table:
    text = "erf_inv(x) / x as a function of w = -log(1 - x^2)"
    return Table("kErfInvCenter", text, erf_inv, 0, 5, 13, relative_to(erf_inv))


def erf_inv_tail_table(name: str, degree: int, largest_w: float) -> Table:
    def function(u: mpf) -> mpf:
        return erf_inv(u**2)

    text = "erf_inv(x) / x as a function of sqrt(w), w = -log(1 - x^2)"
    low, high = mpmath.sqrt(5), mpmath.sqrt(mpf(largest_w))
    return Table(name, text, function, low, high, degree, relative_to(function))


# --- gamma -------------------------------------------------------------------------------------

EULER = mp.euler
DIGAMMA_ROOT = mpmath.findroot(lambda x: mpmath.psi(0, x), mpf("1.4616"))


def lgamma_table() -> Table:
    def function(t: mpf) -> mpf:
        x = t + 1.75
        if abs(x - 1) < TINY:
            return EULER
        if abs(x - 2) < TINY:
            return 1 - EULER
        return mpmath.loggamma(x) / ((x - 1) * (x - 2))

    return Table(
        "kLgammaF64",
        "lgamma(x) / ((x - 1) (x - 2)) as a function of x - 7/4",
        function,
        -0.75,
        0.75,
        26,
        relative_to(function),
    )


def lgamma_stirling_table() -> Table:
    def tail(w: mpf) -> mpf:
        x = 1 / mpmath.sqrt(w)
        stirling = (x - 0.5) * mpmath.log(x) - x + mpmath.log(2 * mp.pi) / 2
        return (mpmath.loggamma(x) - stirling) * x

    return Table(
        "kStirlingF64",
        "(lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) x as a function of 1 / x^2",
        lambda w: mpf(1) / 12 if w < mpf(10) ** -16 else tail(w),
        0,
        mpf(1) / 64,
        7,
    )


def digamma_root_table() -> Table:
    def function(t: mpf) -> mpf:
        if abs(t) < TINY:
            return mpmath.psi(1, DIGAMMA_ROOT)
        return mpmath.psi(0, DIGAMMA_ROOT + t) / t

    return Table(
        "kDigammaF64",
        "digamma(x0 + t) / t where x0 is the root of digamma",
        function,
        1 - DIGAMMA_ROOT,
        2 - DIGAMMA_ROOT,
        22,
        relative_to(function),
    )


def digamma_asymptotic_table() -> Table:
    def tail(w: mpf) -> mpf:
        x = 1 / mpmath.sqrt(w)
        return (mpmath.psi(0, x) - mpmath.log(x) + 1 / (2 * x)) * x**2

    return Table(
        "kDigammaAsymptoticF64",
        "(digamma(x) - log(x) + 1 / (2 x)) x^2 as a function of 1 / x^2",
        lambda w: mpf(-1) / 12 if w < mpf(10) ** -16 else tail(w),
        0,
        mpf(1) / 64,
        7,
    )


TABLES = [
    exp_table("kExpF32", 6),
    exp_table("kExpWide", 7),
    exp_table("kExpF64", 11),
    exp2_table("kExp2F32", 6),
    exp2_table("kExp2Wide", 7),
    exp2_table("kExp2F64", 12),
    expm1_table("kExpm1F32", 5),
    expm1_table("kExpm1Wide", 6),
    expm1_table("kExpm1F64", 10),
    tanh_table("kTanhF32", 5),
    tanh_table("kTanhF64", 10),
    log_f32_table(),
    log_table("kLogWide", 3),
    log_table("kLogF64", 6),
    log_precise_table(),
    sin_table("kSinWide", 3),
    sin_table("kSinF64", 6),
    cos_wide_table(),
    cos_f64_table(),
    atan_table("kAtanWide", 5),
    atan_table("kAtanF64", 10),
    asin_table("kAsinWide", 6),
    asin_table("kAsinF64", 12),
    erfc_exponent_table(),
    minus_expm1_table(),
    erfcx_table("kErfcxWide", 12, 11),
    erfcx_table("kErfcxF64", 25, 28),
    erf_small_table(),
    erf_inv_center_table(),
    erf_inv_tail_table("kErfInvTailWide", 12, 17),
    erf_inv_tail_table("kErfInvTailF64", 12, 38),
    lgamma_table(),
    lgamma_stirling_table(),
    digamma_root_table(),
    digamma_asymptotic_table(),
]


def fit_table(table: Table) -> Fit:
    bits = 24 if table.type == "float" else 53
    f, weight = table.function, table.weight
    return fit(f, table.low, table.high, table.degree, bits, weight, table.fixed)


def print_table(table: Table) -> None:
    result = fit_table(table)
    low, high = (mpmath.nstr(mpf(x), 6) for x in (table.low, table.high))
    error = mpmath.nstr(mpmath.log(result.error, 2), 4)
    suffix = "f" if table.type == "float" else ""
    print(f"// {table.text}.")
    print(f"// On [{low}, {high}]; weighted error 2^{error}.")
    print(f"inline constexpr std::array<{table.type}, {table.degree + 1}> {table.name} = {{")
    for coefficient in result.coefficients:
        print(f"    {float(coefficient).hex()}{suffix},")
    print("};\n")


def main() -> None:
    print("// Minimax polynomials, lowest degree first. Written by tools/coefficients.py.")
    print("#pragma once\n\n#include <array>\n\nnamespace tpu::tensorcore {\n")
    for table in TABLES:
        print_table(table)
    print("}  // namespace tpu::tensorcore")


if __name__ == "__main__":
    main()

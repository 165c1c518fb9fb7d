"""Prints coefficients.h: the minimax polynomials of the elementary functions.

Usage: python coefficients.py > ../coefficients.h
"""

from __future__ import annotations

import dataclasses

import mpmath
from mpmath import mp, mpf
from remez import Function, fit

mp.prec = 220


@dataclasses.dataclass(frozen=True)
class Table:
    """One polynomial: what it is (for the comment), and what `fit` needs."""

    name: str
    text: str
    function: Function
    low: object
    high: object
    degree: int
    type: str  # float or double
    weight: Function
    fixed: tuple[float, ...] = ()


def relative_to(value: Function) -> Function:
    """Weight under which errors of f are seen relative to `value`."""
    return lambda x: 1 / value(x)


LN2 = mp.log(2)
HALF_LN2 = LN2 / 2
TINY = mpf(10) ** -30


def by_series(function: Function, *taylor: object, below: object = "1e-9") -> Function:
    """`function`, but its Taylor polynomial near 0, where the formula cancels."""
    coefficients = [mpf(c) for c in taylor][::-1]

    def evaluate(x: mpf) -> mpf:
        return mpmath.polyval(coefficients, x) if abs(x) < mpf(below) else function(x)

    return evaluate


# --- exponential -------------------------------------------------------------------------------


def expm1_tail(x: mpf) -> mpf:
    """(e^x - 1 - x) / x^2."""
    return (mpmath.expm1(x) - x) / x**2 if abs(x) > TINY else mpf(1) / 2


def expm1_tail_weight(x: mpf) -> mpf:
    return abs(x**2 / mpmath.expm1(x)) if abs(x) > TINY else mpf(0)


def tanh_tail(x: mpf) -> mpf:
    """((e^(2x) - 1) / 2 - x) / x^2."""
    return 2 * expm1_tail(2 * x)


def tanh_tail_weight(x: mpf) -> mpf:
    return expm1_tail_weight(2 * x) / 2


# --- logarithm ---------------------------------------------------------------------------------


def log1p_tail(x: mpf) -> mpf:
    """(log(1 + x) - x) / x^2."""
    return (mpmath.log1p(x) - x) / x**2 if abs(x) > TINY else mpf(-1) / 2


def log1p_tail_weight(x: mpf) -> mpf:
    return abs(x**2 / mpmath.log1p(x)) if abs(x) > TINY else mpf(0)


# --- error function ----------------------------------------------------------------------------


ERF_SLOPE = 2 / mp.sqrt(mp.pi)  # erf'(0)


def erfc_exponent_tail(x: mpf) -> mpf:
    """(-log(erfc(x)) - float(slope) x) / x^2, the float a part of the code."""
    if x < mpf(10) ** -20:
        return ERF_SLOPE**2 / 2
    return (-mpmath.log(mpmath.erfc(x)) - ERF_SLOPE * x) / x**2


def erfc_exponent_weight(x: mpf) -> mpf:
    """Relative error of erf(x) for an error of the tail."""
    return mpmath.erfc(x) * x**2 / mpmath.erf(x) if x else mpf(0)


def minus_expm1_tail(x: mpf) -> mpf:
    """(1 - e^-x - x) / x^2."""
    return -expm1_tail(-x)


TABLES = [
    Table(
        "kExpF32",
        "e^r",
        mp.exp,
        -HALF_LN2,
        HALF_LN2,
        6,
        "float",
        relative_to(mp.exp),
        (1, 1),
    ),
    Table(
        "kTanhF32",
        "((e^(2r) - 1) / 2 - r) / r^2",
        tanh_tail,
        -HALF_LN2 / 2,
        HALF_LN2 / 2,
        5,
        "float",
        tanh_tail_weight,
    ),
    Table(
        "kLogF32",
        "(log(1 + f) - f) / f^2",
        log1p_tail,
        mpf(-1) / 3,
        mpf(1) / 3,
        8,
        "float",
        log1p_tail_weight,
        (-0.5,),
    ),
    Table(
        "kErfcExponentF32",
        "(-log(erfc(x)) - 2 / sqrt(pi) x) / x^2, weighted for errors relative to erf(x)",
        erfc_exponent_tail,
        0,
        "3.93",
        7,
        "float",
        erfc_exponent_weight,
    ),
    Table(
        "kMinusExpm1F32",
        "(1 - e^-r - r) / r^2",
        minus_expm1_tail,
        -HALF_LN2,
        HALF_LN2,
        4,
        "float",
        lambda x: expm1_tail_weight(-x),
    ),
]


def literal(value: mpf, type_: str) -> str:
    return float(value).hex() + ("f" if type_ == "float" else "")


def print_table(table: Table) -> None:
    bits = 24 if table.type == "float" else 53
    result = fit(
        table.function,
        table.low,
        table.high,
        table.degree,
        bits,
        table.weight,
        table.fixed,
    )
    low, high = (mpmath.nstr(mpf(x), 8) for x in (table.low, table.high))
    error = mpmath.nstr(mpmath.log(result.error, 2), 4)
    print(f"// {table.text}; [{low}, {high}], weighted error 2^{error}.")
    print(f"inline constexpr std::array<{table.type}, {table.degree + 1}> {table.name} = {{")
    for coefficient in result.coefficients:
        print(f"    {literal(coefficient, table.type)},")
    print("};\n")


def main() -> None:
    print("// Minimax polynomials, lowest degree first. Written by tools/coefficients.py.")
    print("#pragma once\n\n#include <array>\n\nnamespace tpu::tensorcore {\n")
    for table in TABLES:
        print_table(table)
    print("}  // namespace tpu::tensorcore")


if __name__ == "__main__":
    main()

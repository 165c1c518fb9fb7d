"""Minimax polynomials with coefficients of a given floating-point format.

`minimax` finds the polynomial P of a degree that minimises max |w(x) (P(x) - f(x))| on an interval
by Remez' second algorithm. `fit` then rounds the coefficients one by one, lowest degree first, and
after each rounding fits the rest again, so that they make up for the rounding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import mpmath
from mpmath import mp, mpf

Function = Callable[[mpf], mpf]

_GRID = 16  # points searched between two neighbouring extrema


@dataclasses.dataclass(frozen=True)
class Fit:
    """Coefficients, lowest degree first, and the largest weighted error found."""

    coefficients: list[mpf]
    error: mpf


def round_to(x: mpf, bits: int) -> mpf:
    """`x` rounded to `bits` significant bits, ties to even."""
    if x == 0:
        return mpf(0)
    exponent = int(mpmath.floor(mpmath.log(abs(x), 2))) + 1 - bits
    return mpmath.ldexp(mpmath.nint(mpmath.ldexp(x, -exponent)), exponent)


def _evaluate(coefficients: list[mpf], x: mpf) -> mpf:
    return mpmath.polyval(coefficients[::-1], x) if coefficients else mpf(0)


class _Samples:
    """f and w on a fixed grid of Chebyshev density; evaluating them is the slow part."""

    def __init__(self, f: Function, weight: Function, low: mpf, high: mpf, count: int) -> None:
        angles = [mp.pi * (mpf(i) + mpf(1) / 2) / count for i in range(count)]
        points = [low] + [(low + high) / 2 - (high - low) / 2 * mpmath.cos(t) for t in angles]
        self.x = [*points, high]
        self.f = [f(x) for x in self.x]
        self.w = [weight(x) for x in self.x]


def _extrema(errors: list[mpf], wanted: int) -> list[int]:
    """Indices of the largest errors of alternating sign."""
    found: list[int] = []
    for i, error in enumerate(errors):
        if error == 0:
            continue
        if found and (errors[found[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    size = [abs(errors[i]) for i in found]
    while len(found) > wanted:
        drop = min(range(len(found)), key=size.__getitem__)
        if len(found) == wanted + 1 and 0 < drop < len(found) - 1:
            drop = 0 if size[0] < size[-1] else len(found) - 1
        # Out of the middle go two neighbours, so that the signs still alternate.
        pair = [drop]
        if 0 < drop < len(found) - 1:
            pair.append(drop + 1 if size[drop + 1] < size[drop - 1] else drop - 1)
        for i in sorted(pair, reverse=True):
            del found[i], size[i]
    return found


def _minimax(samples: _Samples, fixed: list[mpf], degree: int) -> tuple[list[mpf], mpf]:
    """The best polynomial whose first coefficients are `fixed`, on the samples.

    With k coefficients fixed, the rest is the minimax polynomial of (f - fixed) / x^k under the
    weight |w x^k|; put so, the powers 1, x, x^2, ... keep Haar's condition also around x = 0.
    """
    first = len(fixed)
    unknowns = degree + 1 - first
    weights = [abs(w * x**first) for x, w in zip(samples.x, samples.w, strict=True)]
    # Points of no weight would only make the equations singular.
    smallest = max(weights) * mpf(2) ** -80
    points = [
        (x, (f - _evaluate(fixed, x)) / x**first, weight)
        for x, f, weight in zip(samples.x, samples.f, weights, strict=True)
        if weight > smallest
    ]
    # The grid has Chebyshev density, so equal steps in it are a good first guess.
    chosen = [round((len(points) - 1) * mpf(i) / unknowns) for i in range(unknowns + 1)]
    best: tuple[list[mpf], mpf] | None = None
    for _ in range(40):
        matrix = mpmath.matrix(unknowns + 1, unknowns + 1)
        right = mpmath.matrix(unknowns + 1, 1)
        for row, i in enumerate(chosen):
            x, target, weight = points[i]
            for column in range(unknowns):
                matrix[row, column] = x**column
            matrix[row, unknowns] = (-1) ** row / weight
            right[row] = target
        solution = mpmath.lu_solve(matrix, right)
        rest = [solution[i] for i in range(unknowns)]
        errors = [weight * (_evaluate(rest, x) - target) for x, target, weight in points]
        largest = max(abs(e) for e in errors)
        if best is None or largest < best[1]:
            best = (fixed + rest, largest)
        if largest <= abs(solution[unknowns]) * (1 + mpf(10) ** -4):
            break
        extrema = _extrema(errors, unknowns + 1)
        if len(extrema) < unknowns + 1:
            break
        chosen = extrema
    assert best is not None
    return best


def fit(
    f: Function,
    low: object,
    high: object,
    degree: int,
    bits: int,
    weight: Function = lambda x: mpf(1),
    fixed: tuple[float, ...] = (),
) -> Fit:
    """Fits f on [low, high]; coefficients have `bits` significant bits; `fixed` come first."""
    samples = _Samples(f, weight, mpf(low), mpf(high), _GRID * (degree + 2))
    coefficients = [mpf(c) for c in fixed]
    while len(coefficients) <= degree:
        best, _ = _minimax(samples, coefficients, degree)
        coefficients.append(round_to(best[len(coefficients)], bits))
    error = max(
        abs(w * (_evaluate(coefficients, x) - y)) for x, y, w in zip(samples.x, samples.f, samples.w, strict=True)
    )
    return Fit(coefficients, error)

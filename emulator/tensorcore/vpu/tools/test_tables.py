"""The tables in the headers are what their tools write."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpmath")

TOOLS = Path(__file__).parent
sys.path.insert(0, str(TOOLS))

import coefficients
import two_over_pi
from mpmath import mpf
from remez import fit, round_to


def numbers_in_header(header: str, name: str) -> list[float]:
    text = (TOOLS.parent / header).read_text()
    match = re.search(rf"\b{name} = \{{(.*?)\}};", text, re.DOTALL)
    assert match, f"{header} has no {name}"
    return [float.fromhex(item.strip().rstrip("f")) for item in match[1].split(",") if item.strip()]


# The others take minutes.
@pytest.mark.parametrize("name", ["kExpF32", "kExpF64", "kTanhF32", "kLogWide", "kSinWide"])
def test_coefficients(name: str) -> None:
    (table,) = (table for table in coefficients.TABLES if table.name == name)
    fitted = [float(c) for c in coefficients.fit_table(table).coefficients]
    assert fitted == numbers_in_header("coefficients.h", name)


def test_header_has_every_table() -> None:
    for table in coefficients.TABLES:
        assert len(numbers_in_header("coefficients.h", table.name)) == table.degree + 1


def test_two_over_pi() -> None:
    expected = [value for row in two_over_pi.table() for value in row]
    assert numbers_in_header("two_over_pi.h", "kTwoOverPi") == expected


def test_fit_finds_a_known_minimax_polynomial() -> None:
    # The best line for x^2 on [0, 1] is x - 1/8, with error 1/8.
    result = fit(lambda x: x**2, 0, 1, 1, 53)
    assert [float(c) for c in result.coefficients] == pytest.approx([-0.125, 1.0], abs=1e-3)
    assert float(result.error) == pytest.approx(0.125, abs=1e-3)


def test_rounding_to_bits() -> None:
    assert round_to(mpf(5), 2) == 4
    assert round_to(mpf(7), 2) == 8
    assert round_to(mpf("0.1"), 53) == mpf(0.1)
    assert round_to(mpf(0), 24) == 0

"""Prints two_over_pi.h: the bits of 2 / pi that matter to arguments of each size.

Usage: python two_over_pi.py > ../two_over_pi.h && clang-format -i ../two_over_pi.h
"""

from __future__ import annotations

from fractions import Fraction

from mpmath import mp

GROUP = 8  # exponents that share an entry
PARTS = 4
BITS = 53
LARGE = 1600  # biased exponent from which on entries are scaled, lest they become subnormal
LARGE_SCALE = 256


def table() -> list[list[float]]:
    """The parts of each group."""
    mp.prec = 1400
    scale = 1300
    two_over_pi = int(mp.floor(mp.ldexp(2 / mp.pi, scale)))  # units of 2^-scale
    rows = []
    for first in range(0, 2048, GROUP):
        # The smallest unit in the last place is 2^(first - 1075).
        top = min(1077 - first, 0)
        rest = two_over_pi % (1 << (scale + top))
        row = []
        for part in range(PARTS):
            unit = scale + top - BITS * (part + 1)
            value = rest >> unit
            rest -= value << unit
            exponent = unit - scale + (LARGE_SCALE if first >= LARGE else 0)
            row.append(float(Fraction(value) * Fraction(2) ** exponent))
        rows.append(row)
    return rows


def main() -> None:
    rows = table()
    print("// Written by tools/two_over_pi.py.")
    print("#pragma once\n\n#include <array>\n\nnamespace tpu::tensorcore {\n")
    print("// For doubles whose biased exponent is 8 g ... 8 g + 7, entries 4 g ... 4 g + 3 add up")
    print("// to 2 / pi less its leading bits whose products with such a double are multiples of 4.")
    print("// From 2^577 on (group 200) entries are multiplied by 2^256.")
    print(f"inline constexpr std::array<double, {len(rows) * PARTS}> kTwoOverPi = {{")
    for row in rows:
        print(f"    {', '.join(value.hex() for value in row)},")
    print("};\n\n}  // namespace tpu::tensorcore")


if __name__ == "__main__":
    main()

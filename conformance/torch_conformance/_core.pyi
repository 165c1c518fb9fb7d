"""core/python.cpp."""

from typing import Any

import numpy

Doubles = numpy.ndarray[Any, numpy.dtype[numpy.float64]]
Integers = numpy.ndarray[Any, numpy.dtype[numpy.int64]]

class Comparison:
    margin: float
    worst: int
    note: str
    components: int

def compare_reals(
    dtype: str, got: Doubles, exact: Doubles, spread: Doubles, flushes_subnormals: bool = ...
) -> Comparison: ...
def compare_complex(
    dtype: str, got: Doubles, exact: Doubles, spread: Doubles, flushes_subnormals: bool = ...
) -> Comparison: ...
def compare_integers(got: Integers, exact: Integers, spread: Doubles) -> Comparison: ...
def to_json_line(
    name: str,
    mode: str,
    status: str,
    margin: float,
    seconds: float,
    digest: str = ...,
    cause: str = ...,
    message: str = ...,
    reproducer: str = ...,
) -> str: ...
def from_json_line(line: str) -> dict[str, Any]: ...

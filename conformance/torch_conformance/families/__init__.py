"""The suite's own cases, a family a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..oracle.reference import undisturbed
from ..tensors import tensors_of
from ..trial import Trial

FLOATS = (torch.float32, torch.bfloat16)
DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
)
"""All that promotion and copies are tried with."""
MIXED = (torch.float32, torch.bfloat16, torch.int64, torch.bool)


def numbers(device: Any, *shape: int, dtype: torch.dtype = torch.float32, start: int = 1) -> torch.Tensor:
    """start, start + 1, ... in `shape`: exact in every dtype up to 256; alternating for bool."""
    count = 1
    for size in shape:
        count *= size
    values = torch.arange(start, start + count)
    if dtype == torch.bool:
        values = values % 3 != 0
    return values.to(dtype).reshape(shape).to(device)


def agree(t: Trial, compute: Callable[[Any], Any]) -> None:
    """`compute(device)` gives the same bits, shapes and dtypes on the device as on the CPU."""
    with undisturbed():
        want = tensors_of(compute(torch.device("cpu")))
    t.require_claimed(want)
    got = tensors_of(compute(t.device))
    t.require(len(got) == len(want), "type", f"{len(got)} results, expected {len(want)}")
    for number, (result, reference) in enumerate(zip(got, want, strict=True)):
        if t.device.type in ("cpu", result.device.type):
            t.equal(result, reference, f"result {number}")
        else:
            t.require(result.device.type == "cpu", "device", f"result {number} is on {result.device}")
            t.require(torch.equal(result, reference), "value", f"result {number}: {result}, expected {reference}")

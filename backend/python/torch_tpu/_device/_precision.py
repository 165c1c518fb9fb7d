"""How many bf16 passes a float32 matrix product takes."""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from torch_tpu import _C


class Precision(enum.Enum):
    """Precision of float32 matrix products and convolutions on the device."""

    DEFAULT = "medium"
    """One pass: operands are rounded to bfloat16, products are added in float32."""
    HIGH = "high"
    """Three passes: some 16 bits of the operands' mantissas count."""
    HIGHEST = "highest"
    """Six passes: about as good as float32 arithmetic."""


@contextmanager
def precision(mode: Precision) -> Iterator[None]:
    """Sets the precision within a block, over ``torch.set_float32_matmul_precision``.

    Holds for the whole process, so that a backward pass inside the block follows it too.
    """
    if not isinstance(mode, Precision):
        raise TypeError(f"expected a torch.tpu.Precision, got {mode!r}")
    before = _C.matmul_precision_override()
    _C.set_matmul_precision_override(mode.value)
    try:
        yield
    finally:
        _C.set_matmul_precision_override(before)


def follow_torch_setting() -> None:
    """Makes PyTorch's setting govern the device.

    PyTorch's default, "highest", cannot be told from a user's choice of it, and the device's own
    default is one pass. So the functions note that a choice was made; until then the getter gives
    what the device does.
    """
    torch_set = torch.set_float32_matmul_precision
    torch_get = torch.get_float32_matmul_precision

    @functools.wraps(torch_set)
    def set_float32_matmul_precision(precision: str) -> None:
        torch_set(precision)
        _C.set_matmul_precision_chosen()

    @functools.wraps(torch_get)
    def get_float32_matmul_precision() -> str:
        value = torch_get()
        return value if value != "highest" or _C.matmul_precision_chosen() else "medium"

    torch.set_float32_matmul_precision = set_float32_matmul_precision
    torch.get_float32_matmul_precision = get_float32_matmul_precision

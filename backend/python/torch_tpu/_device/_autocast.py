"""Which dtypes ``torch.autocast("tpu")`` accepts."""

from __future__ import annotations

import torch


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The floating-point dtypes that tensors on the device can have."""
    return [
        torch.bfloat16,
        torch.float16,
        torch.float32,
        torch.float64,
        torch.float8_e4m3fn,
        torch.float8_e5m2,
        torch.float8_e4m3fnuz,
        torch.float8_e5m2fnuz,
        torch.complex64,
        torch.complex128,
    ]

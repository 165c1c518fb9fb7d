"""PyTorch asks for an external device's DLPack type by a name that a renamed device has not (issue 195815)."""

from __future__ import annotations

import functools
from typing import Any

import torch


def answer_for_device() -> None:
    """Teaches `Tensor.__dlpack_device__` the device."""
    original = torch.Tensor.__dlpack_device__

    @functools.wraps(original)
    def answer(self: torch.Tensor) -> tuple[Any, int]:
        if type(self) is torch.Tensor and self.device.type == "mock":
            from torch.utils.dlpack import DLDeviceType

            return DLDeviceType.kDLExtDev, 0
        return original(self)

    torch.Tensor.__dlpack_device__ = answer  # type: ignore[method-assign]

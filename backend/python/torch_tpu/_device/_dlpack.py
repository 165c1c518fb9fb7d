"""DLPack exchange.

PyTorch exports tensors of an external device as kDLExtDev, but its Python side asks for the
device's name by a literal that a renamed device does not have (pytorch/pytorch#195815). This
answers for the device and leaves every other tensor to PyTorch.
"""

from __future__ import annotations

import enum
import functools

import torch


def answer_for_device() -> None:
    """Teaches ``Tensor.__dlpack_device__`` the device ``tpu``."""
    original = torch.Tensor.__dlpack_device__

    @functools.wraps(original)
    def __dlpack_device__(self: torch.Tensor) -> tuple[enum.IntEnum, int]:  # noqa: N807
        if type(self) is torch.Tensor and self.device.type == "tpu":
            from torch.utils.dlpack import DLDeviceType

            return DLDeviceType.kDLExtDev, self.device.index or 0
        return original(self)

    torch.Tensor.__dlpack_device__ = __dlpack_device__  # type: ignore[method-assign]

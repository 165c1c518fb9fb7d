"""What a program may ask about the device."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from torch_tpu import _C
from torch_tpu._device._legacy import _index_of


@dataclasses.dataclass(frozen=True)
class DeviceProperties:
    """As other devices have them."""

    name: str
    total_memory: int
    multi_processor_count: int = 1


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name and memory of the device; on v7 a device is one of a chip's two TensorCores."""
    _index_of(device)
    chip = _C.chip()
    return DeviceProperties(name=chip["display_name"], total_memory=chip["hbm_bytes"])


def get_device_name(device: Any = None) -> str:
    """`TPU v6e`, or whatever TORCH_TPU_EMULATOR_CHIP chose."""
    return get_device_properties(device).name


class device_of:  # noqa: N801 (torch.cuda.device_of has this name)
    """A context in which the current device is that of `obj`; tensors of other devices are ignored."""

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage) -> None:
        if obj.device.type == "tpu":
            _index_of(obj.device)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None

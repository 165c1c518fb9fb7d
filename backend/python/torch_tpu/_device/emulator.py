"""``torch.tpu.emulator``: what only an emulated device can offer."""

from __future__ import annotations

import dataclasses

import torch

from torch_tpu import _C


@dataclasses.dataclass(frozen=True)
class Chip:
    """The emulated chip's data sheet; rates and sizes are per device."""

    name: str
    display_name: str
    hbm_bytes: int
    hbm_bytes_per_second: float
    bf16_flops: float
    mxu_depth: int
    has_fp8: bool
    devices_per_chip: int


def chip() -> Chip:
    """The chip that TORCH_TPU_EMULATOR_CHIP chose, v6e by default."""
    return Chip(**_C.chip())


def known_chips() -> list[str]:
    """Values that TORCH_TPU_EMULATOR_CHIP may have."""
    return _C.known_chips()


def hbm_capacity() -> int:
    """Bytes that allocations, padded to tiles, may take together."""
    return _C.hbm_capacity()


def set_hbm_capacity(size: int) -> None:
    """Lowers the capacity, to see whether a program fits; or raises it up to the chip's own.

    RuntimeError if more is allocated already.
    """
    _C.set_hbm_capacity(size)


def simulated_time(stream: torch.Stream | None = None) -> float:
    """Seconds the work so far would have taken on the real chip. Waits for the stream."""
    queue = (stream or torch.accelerator.current_stream()).stream_id
    return _C.simulated_time(queue) * 1e-12

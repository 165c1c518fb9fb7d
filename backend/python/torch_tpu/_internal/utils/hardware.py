"""Questions about the chip, by the names that existing programs use."""

from __future__ import annotations

from torch_tpu import _C


def get_tpu_device_name() -> str:
    """`TPU v6e`."""
    return _C.chip()["display_name"]


def get_tpu_version() -> str:
    """`v6e`."""
    return _C.chip()["name"]


def get_hbm_bytes_per_device() -> int:
    """Bytes of one device's memory."""
    return _C.chip()["hbm_bytes"]


def get_bf16_flops_per_device() -> float:
    """Peak FLOP/s of one device in bfloat16."""
    return _C.chip()["bf16_flops"]

"""Faults of the mock's Python package and of its autocast registrations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import device

_kept: list[Any] = []
"""Registrations end with the object that made them."""


def _fall_through(*names: str) -> None:
    library = torch.library.Library("aten", "IMPL")
    for name in names:
        library.impl(name, torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    _kept.append(library)


def _refuse_dlpack() -> None:
    def refuse(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        raise BufferError("no DLPack")

    torch.Tensor.__dlpack__ = refuse  # type: ignore[method-assign]


def _pickle_to_the_host() -> None:
    original = torch.Tensor.__reduce_ex__

    def reduce(self: torch.Tensor, protocol: int) -> Any:
        return original(self.cpu() if self.device.type == "mock" else self, protocol)

    torch.Tensor.__reduce_ex__ = reduce  # type: ignore[method-assign]


FAULTS: dict[str, Callable[[], object]] = {
    "autocast.lower_precision.none": lambda: _fall_through("mm", "addmm", "bmm", "linear", "conv2d", "matmul"),
    "autocast.float32.none": lambda: _fall_through("exp", "log_softmax.int", "softmax.int", "mse_loss"),
    "module.available.false": lambda: setattr(device, "is_available", lambda: False),
    "module.count.none": lambda: setattr(device, "device_count", lambda: 0),
    "module.seed.missing": lambda: setattr(device, "manual_seed_all", lambda _seed: None),
    "module.bad_fork": lambda: setattr(device, "_is_in_bad_fork", lambda: True),
    "module.amp_dtypes.none": lambda: setattr(device, "get_amp_supported_dtype", lambda: [torch.float16]),
    "module.not_initialized": lambda: setattr(device, "is_initialized", lambda: False),
    "module.synchronize.missing": lambda: delattr(device, "synchronize"),
    "module.dlpack.refused": _refuse_dlpack,
    "module.pickle.device_lost": _pickle_to_the_host,
}


def switch_on(name: str) -> None:
    """Applies the fault if it is one of these; it can't be taken back."""
    if name in FAULTS:
        FAULTS[name]()

"""``torch.tpu``: the device module.

Generic code should call ``torch.accelerator``; what is here either has no counterpart there or is
what PyTorch itself looks up on the module of a device.
"""

from __future__ import annotations

import sys as _sys
import types as _types

from torch_tpu import _C
from torch_tpu._device import emulator
from torch_tpu._device._autocast import get_amp_supported_dtype
from torch_tpu._device._eager import EagerMode, _get_eager_mode, _replace_eager_mode, set_eager_mode
from torch_tpu._device._legacy import (
    current_device,
    current_stream,
    device,
    device_count,
    is_available,
    set_device,
    set_stream,
    synchronize,
)
from torch_tpu._device._precision import Precision, precision
from torch_tpu._device._properties import device_of, get_device_name, get_device_properties
from torch_tpu._device._random import (
    default_generators,
    get_rng_state,
    initial_seed,
    manual_seed,
    manual_seed_all,
    set_rng_state,
)
from torch_tpu._device._streams import Event, Stream, default_stream, stream

__all__ = [
    "EagerMode",
    "Event",
    "Precision",
    "Stream",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "emulator",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "init",
    "initial_seed",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "precision",
    "set_device",
    "set_eager_mode",
    "set_rng_state",
    "set_stream",
    "stream",
    "synchronize",
]


def is_initialized() -> bool:
    """True once the chip is in use."""
    return _C.is_initialized()


def __getattr__(name: str) -> bool:
    # torch.utils.checkpoint asks for it by this name before it keeps random states.
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.tpu' has no attribute '{name}'")


def init() -> None:
    """Creates the chip now rather than at its first use."""
    _C.init()


def _get_cache_stats() -> dict[str, object]:
    """Requests, hits and compilations of the in-process compile cache; one entry a program."""
    return _C.cache_stats()


def _is_in_bad_fork() -> bool:
    """True in a forked child of a process that had used the device."""
    return _C.in_bad_fork()


class _Module(_types.ModuleType):
    """A module with settings: assignments are checked."""

    @property
    def eager_mode(self) -> EagerMode:
        """How eager operators are executed. Assign an ``EagerMode`` to change it."""
        return _get_eager_mode()

    @eager_mode.setter
    def eager_mode(self, mode: EagerMode) -> None:
        _replace_eager_mode(mode)

    @property
    def allow_excess_precision(self) -> bool:
        """Whether a fused program may keep values in float32 where eager ones round to bfloat16.

        Off by default: then every mode gives the same bits.
        """
        return _C.allow_excess_precision()

    @allow_excess_precision.setter
    def allow_excess_precision(self, allow: bool) -> None:
        if not isinstance(allow, bool):
            raise TypeError(f"expected a bool, got {allow!r}")
        _C.set_allow_excess_precision(allow)


_sys.modules[__name__].__class__ = _Module

"""Device functions that newer code calls on ``torch.accelerator``.

PyTorch itself calls them on the module of a device, so they exist. A program that calls them is
told once, by a warning, what to call instead. TORCH_TPU_ALLOW_LEGACY_DEVICE_APIS=0 makes such a
call an error, which is how programs are made ready for a device that refuses them.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch

from torch_tpu import _C

_P = ParamSpec("_P")
_R = TypeVar("_R")
_warned: set[str] = set()


def _called_by_torch(depth: int) -> bool:
    """True if the frame `depth` above the caller is PyTorch's own."""
    module = sys._getframe(depth + 1).f_globals.get("__name__", "")
    return module.partition(".")[0] in ("torch", "torch_tpu")


def _tell(name: str, replacement: str) -> None:
    text = (
        f"<TorchTpu/ApiStage/InternalApi/> torch.tpu.{name} is PyTorch's internal interface; call {replacement} instead"
    )
    if os.environ.get("TORCH_TPU_ALLOW_LEGACY_DEVICE_APIS") == "0":
        raise RuntimeError(text)
    if name not in _warned:
        _warned.add(name)
        warnings.warn(text, stacklevel=3)


def _legacy(replacement: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if not _called_by_torch(1):
                _tell(function.__name__, replacement)
            return function(*args, **kwargs)

        return checked

    return decorate


def _index_of(device: Any) -> int:
    """The index of a device, a string, an int or None. ValueError unless it is the one device."""
    if device is None:
        return 0
    if isinstance(device, int) and not isinstance(device, bool):
        index: int | None = device
    else:
        found = torch.device(device)
        if found.type != "tpu":
            raise ValueError(f"expected a tpu device, got {found}")
        index = found.index
    if index not in (None, -1, 0):
        raise ValueError(
            f"this process has one TPU, tpu:0; got index {index}. Use one process for each device "
            "(torchrun, or the spawn start method)"
        )
    return 0


@_legacy("torch.accelerator.is_available")
def is_available() -> bool:
    """True: the emulated device needs no hardware."""
    return True


@_legacy("torch.accelerator.device_count")
def device_count() -> int:
    """1: one process has one device."""
    return 1


@_legacy("torch.accelerator.current_device_index")
def current_device() -> int:
    """0: one process has one device."""
    return 0


@_legacy("torch.accelerator.set_device_index")
def set_device(device: Any) -> None:
    """Checks that `device` is the process's one device. ValueError otherwise."""
    _index_of(device)


@_legacy("torch.accelerator.synchronize")
def synchronize(device: Any = None) -> None:
    """Waits for all work on all streams, and raises what it left behind."""
    _index_of(device)
    _C.synchronize()


@_legacy("torch.accelerator.current_stream")
def current_stream(device: Any = None) -> torch.Stream:
    """The stream that the calling thread's operators go to."""
    _index_of(device)
    return torch.accelerator.current_stream()


@_legacy("torch.accelerator.set_stream")
def set_stream(stream: torch.Stream) -> None:
    """Makes `stream` the calling thread's current one."""
    torch.accelerator.set_stream(stream)


class device:  # noqa: N801 (torch.cuda.device has this name)
    """A context in which `device` is the current one; there is only one to choose."""

    def __init__(self, device: Any) -> None:
        if not _called_by_torch(1):
            _tell("device", "torch.accelerator.device_index")
        _index_of(device)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None

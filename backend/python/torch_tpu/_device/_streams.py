"""Streams and events. A stream is a queue of the chip with a thread of its own."""

from __future__ import annotations

from typing import Any

import torch

from torch_tpu._device._legacy import _index_of

_DEVICE_TYPE = int(torch._C._autograd.DeviceType.PrivateUse1.value)
_UNITS = ("tensorcore", "sparsecore", "none")


class _OfDevice(type):
    """`isinstance` is true of PyTorch's generic object if it is one of this device.

    The generic objects are what these classes make: PyTorch's own methods take no subclass.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, (torch.Stream, torch.Event)):
            return False
        return issubclass(cls, type(instance)) and instance.device.type == "tpu"


class Stream(torch.Stream, metaclass=_OfDevice):
    """A stream of the device. `priority` and `pinned` are accepted and change nothing."""

    def __new__(  # type: ignore[misc]
        cls,
        device: Any = None,
        priority: int = 0,
        *,
        stream_id: int | None = None,
        pinned: str = "tensorcore",
    ) -> torch.Stream:
        _index_of(device)
        if pinned not in _UNITS:
            raise ValueError(f"expected pinned to be one of {_UNITS}, got {pinned!r}")
        if stream_id is not None:
            return torch.Stream(stream_id=stream_id, device_index=0, device_type=_DEVICE_TYPE)
        return torch.Stream(device="tpu", priority=priority)


class Event(torch.Event, metaclass=_OfDevice):
    """A point in a stream's work. Times are the host's."""

    def __new__(  # type: ignore[misc]
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
        device: Any = None,
    ) -> torch.Event:
        _index_of(device)
        if interprocess or external:
            raise NotImplementedError("events cannot be shared with other processes")
        return torch.Event(device="tpu", enable_timing=enable_timing, blocking=blocking)


class stream:  # noqa: N801 (torch.cuda.stream has this name)
    """A context in which the calling thread's operators go to a stream. None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self._stream = stream
        self._before: torch.Stream | None = None

    def __enter__(self) -> torch.Stream | None:
        if self._stream is not None:
            self._before = torch.accelerator.current_stream()
            torch.accelerator.set_stream(self._stream)
        return self._stream

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            torch.accelerator.set_stream(self._before)


def default_stream(device: Any = None) -> torch.Stream:
    """The stream that operators go to unless told otherwise."""
    return Stream(device, stream_id=0)

"""``torch.mock``: what PyTorch looks up on the module of a device."""

from __future__ import annotations

from typing import Any

import torch

from . import _C

_initialized = True
default_generators = (_C.default_generator(),)


def is_available() -> bool:
    """Whether there is a device."""
    return True


def is_initialized() -> bool:
    """True from the start."""
    return True


def init() -> None:
    """Nothing to do."""


def device_count() -> int:
    """1."""
    return 1


def current_device() -> int:
    """0."""
    return 0


def set_device(device: Any) -> None:
    """Only device 0 can be chosen."""
    torch.accelerator.set_device_index(0 if isinstance(device, int) and device <= 0 else device)


def synchronize(device: Any = None) -> None:
    """Runs what is left on all streams."""
    _C.synchronize()


def current_stream(device: Any = None) -> torch.Stream:
    """The calling thread's stream."""
    return torch.accelerator.current_stream()


def manual_seed(seed: int) -> None:
    """Starts the default generator anew."""
    default_generators[0].manual_seed(int(seed))


manual_seed_all = manual_seed


def get_rng_state(device: Any = "mock") -> torch.Tensor:
    """The default generator's state."""
    return default_generators[0].get_state()


def set_rng_state(state: torch.Tensor, device: Any = "mock") -> None:
    """Restores what `get_rng_state` gave."""
    default_generators[0].set_state(state)


def get_amp_supported_dtype() -> list[torch.dtype]:
    """For torch.autocast."""
    return [torch.bfloat16, torch.float16]


def _is_in_bad_fork() -> bool:
    return False


class device:  # noqa: N801 (torch.cuda.device has this name)
    """A context in which `device` is the current one; there is only one."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None

"""The device's default random number generator."""

from __future__ import annotations

from typing import Any

import torch

from torch_tpu import _C
from torch_tpu._device._legacy import _index_of

default_generators: tuple[torch.Generator, ...] = (_C.default_generator(),)


def manual_seed(seed: int) -> None:
    """Starts the generator anew: the same seed gives the same numbers."""
    default_generators[0].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """As `manual_seed`; a process has one device."""
    manual_seed(seed)


def initial_seed() -> int:
    """The seed in use."""
    return default_generators[0].initial_seed()


def get_rng_state(device: Any = "tpu") -> torch.Tensor:
    """16 bytes: seed, then offset in 128-bit blocks."""
    _index_of(device)
    return default_generators[0].get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "tpu") -> None:
    """Restores what `get_rng_state` gave."""
    _index_of(device)
    default_generators[0].set_state(new_state)

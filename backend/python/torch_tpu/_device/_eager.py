"""Eager execution modes."""

from __future__ import annotations

import enum
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class EagerMode(enum.Enum):
    """How operators outside of ``torch.compile`` are executed."""

    DEFER_NEVER = "strict"
    """Each operator is dispatched at once and runs asynchronously. The default."""
    DEFER_NEVER_AND_LAUNCH_BLOCKING = "debug"
    """As above, but each operator is waited for, and checked."""
    DEFER_AND_FUSE = "fused"
    """Operators are recorded and run together, when a result is needed or by heuristics."""


_AVAILABLE = (EagerMode.DEFER_NEVER,)


class _State:
    mode = EagerMode.DEFER_NEVER


def _check(mode: EagerMode) -> None:
    if not isinstance(mode, EagerMode):
        raise TypeError(f"expected a torch.tpu.EagerMode, got {mode!r}")
    if mode not in _AVAILABLE:
        names = ", ".join(m.name for m in _AVAILABLE)
        raise NotImplementedError(f"the eager mode {mode.name} is not implemented by this version; it has {names}")


def _get_eager_mode() -> EagerMode:
    return _State.mode


def _replace_eager_mode(mode: EagerMode) -> None:
    _check(mode)
    _State.mode = mode


@contextmanager
def set_eager_mode(mode: EagerMode) -> Iterator[None]:
    """Runs a block in another mode; nests, and restores the mode before also on an exception."""
    before = _get_eager_mode()
    _replace_eager_mode(mode)
    try:
        yield
    finally:
        _replace_eager_mode(before)


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true")


def _mode_of_environment() -> EagerMode:
    """Debug wins if both are set."""
    if _is_set("TORCH_TPU_LAUNCH_BLOCKING"):
        return EagerMode.DEFER_NEVER_AND_LAUNCH_BLOCKING
    if _is_set("TORCH_TPU_DEFER_AND_FUSE"):
        return EagerMode.DEFER_AND_FUSE
    return EagerMode.DEFER_NEVER


def _start_in_mode_of_environment() -> None:
    mode = _mode_of_environment()
    try:
        _replace_eager_mode(mode)
    except NotImplementedError as error:
        warnings.warn(f"<TorchTpu/Correctness/> {error}; strict eager is used", stacklevel=2)


_start_in_mode_of_environment()

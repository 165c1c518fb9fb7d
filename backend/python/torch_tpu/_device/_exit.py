"""The end of the process."""

from __future__ import annotations

import atexit

from torch_tpu import _C


def drain_at_exit() -> None:
    """Lets work under way finish while Python objects that it may hold are still alive."""
    atexit.register(_C.drain)

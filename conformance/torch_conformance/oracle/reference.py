"""References are computed as if nothing watched or changed PyTorch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch.utils._python_dispatch import _disable_current_modes


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Without the dispatch modes that are active: an adapter's context may be one, and composite
    operators take another way while one is there."""
    with _disable_current_modes():
        yield

"""PyTorch's CPU kernels reached through its decompositions: a second implementation of most operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch._decomp import decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from .oracle.arithmetic import is_view


class Decomposed(TorchDispatchMode):
    """While active, operators run as their decompositions, where there are any."""

    def __torch_dispatch__(
        self, op: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if op in decomposition_table and not is_view(op) and not op._schema.is_mutable:
            with self:
                out = decomposition_table[op](*args, **kwargs)
            if out is not NotImplemented:
                return out
        return op(*args, **kwargs)


def decomposed() -> Decomposed:
    """For an adapter's `context`."""
    return Decomposed()

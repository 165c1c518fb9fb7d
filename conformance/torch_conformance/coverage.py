"""Which of PyTorch's operators a run has reached on the device."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def _has_kernel(name: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))


@functools.cache
def needing_a_kernel() -> frozenset[str]:
    """The overloads of aten that PyTorch does not make out of others: those with a CPU kernel of their own."""
    names = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    return frozenset(
        name for name in names if _has_kernel(name, "CPU") and not any(_has_kernel(name, key) for key in _COMPOSITE)
    )


@functools.cache
def core() -> frozenset[str]:
    """The overloads with the tag `core`."""
    names = set()
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::"):
            continue
        base, _, overload = name.removeprefix("aten::").partition(".")
        op = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
        if op is not None and torch.Tag.core in op.tags:
            names.add(name)
    return frozenset(names)


class Reached(TorchDispatchMode):
    """While active, notes the overloads that are called on tensors of the device."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device
        self.names: set[str] = set()

    def __torch_dispatch__(
        self, op: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = op(*args, **(kwargs or {}))
        leaves = [*args, *(kwargs or {}).values(), *(out if isinstance(out, tuple | list) else (out,))]
        tensors = [t for leaf in leaves for t in (leaf if isinstance(leaf, list | tuple) else (leaf,))]
        if any(isinstance(t, torch.Tensor) and t.device.type == self.device.type for t in tensors):
            name = op._schema.name
            self.names.add(f"{name}.{op._schema.overload_name}" if op._schema.overload_name else name)
        return out

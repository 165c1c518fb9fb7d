"""Moving samples: a tensor reaches the device with its strides, its offset, and the storage it shares."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch.utils._pytree import tree_flatten, tree_map_only

WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.float64: torch.float64,
    torch.float8_e4m3fn: torch.float64,
    torch.float8_e5m2: torch.float64,
    torch.float8_e4m3fnuz: torch.float64,
    torch.float8_e5m2fnuz: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
    torch.complex128: torch.complex128,
}
"""The dtype that a reference is computed in."""


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


class Mover:
    """Moves tensors one after another; those that share a storage share one afterwards.

    `convert` moves a flat tensor: to a device, to another dtype, or both.
    """

    def __init__(self, convert: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.convert = convert
        self.flat: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def __call__(self, value: Any) -> Any:
        """`value` with all tensors in it moved."""
        return tree_map_only(torch.Tensor, self.tensor, value)

    def tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
            moved = self.convert(tensor.detach())
        else:
            moved = self._strided(tensor.detach())
        return moved.requires_grad_(tensor.requires_grad) if tensor.requires_grad else moved

    def _strided(self, tensor: torch.Tensor) -> torch.Tensor:
        conjugate, negative = tensor.is_conj(), tensor.is_neg()
        if conjugate:
            tensor = tensor.conj()
        if negative:
            tensor = torch._neg_view(tensor)
        storage = tensor.untyped_storage()
        if storage.nbytes() % tensor.element_size() or tensor.numel() == 0:
            moved = self.convert(tensor)
        else:
            key = (storage.data_ptr(), tensor.dtype)
            if key not in self.flat:
                whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage)
                self.flat[key] = self.convert(whole)
            moved = self.flat[key].as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
        if negative:
            moved = torch._neg_view(moved)
        return moved.conj() if conjugate else moved


def to_device(value: Any, device: torch.device | str) -> Any:
    return Mover(lambda flat: flat.clone() if flat.device == torch.device(device) else flat.to(device))(value)


def widened(value: Any) -> Any:
    """The same numbers in the dtype of the reference; dtype arguments likewise."""
    moved = Mover(lambda flat: flat.to(WIDE.get(flat.dtype, flat.dtype), copy=True))(value)
    return tree_map_only(torch.dtype, lambda dtype: WIDE.get(dtype, dtype), moved)


def copied(value: Any) -> Any:
    """A copy that later writes don't reach."""
    return Mover(lambda flat: flat.clone())(value)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors in a nest of tuples, lists and dicts, in order."""
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def host(tensor: torch.Tensor) -> torch.Tensor:
    """On the CPU, dense, without lazy bits."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor._is_zerotensor():
        return torch.zeros(tensor.shape, dtype=tensor.dtype)
    tensor = tensor.cpu()
    return tensor.resolve_conj().resolve_neg()


def bits(tensor: torch.Tensor) -> bytes:
    """The elements' bytes in row-major order."""
    dense = host(tensor).clone(memory_format=torch.contiguous_format).reshape(-1)
    return dense.view(torch.uint8).numpy().tobytes() if dense.numel() else b""


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Shape and bits, of dense tensors; others count as the same."""
    if a.layout != torch.strided or b.layout != torch.strided:
        return True
    return a.shape == b.shape and bits(a) == bits(b)


def _text_of(leaf: Any) -> str:
    """The value, or where its text would hold an address, its type."""
    plain = (int, float, complex, str, slice, torch.dtype, torch.device, torch.memory_format, type(None))
    return repr(leaf) if isinstance(leaf, plain) else type(leaf).__name__


def digest(value: Any) -> str:
    """Of the bits, shapes and dtypes of all tensors in `value`, and of its other leaves."""
    hasher = hashlib.blake2b(digest_size=8)
    for leaf in tree_flatten(value)[0]:
        if isinstance(leaf, torch.Tensor):
            hasher.update(f"{dtype_name(leaf.dtype)}{tuple(leaf.shape)}".encode())
            hasher.update(bits(leaf))
        else:
            hasher.update(_text_of(leaf).encode())
    return hasher.hexdigest()


def as_doubles(tensor: torch.Tensor) -> numpy.ndarray[Any, numpy.dtype[numpy.float64]]:
    """Real components as float64; a complex number as two in turn."""
    dense = host(tensor)
    if dense.is_complex():
        dense = torch.view_as_real(dense.to(torch.complex128).contiguous())
    return dense.to(torch.float64).contiguous().numpy().reshape(-1)


def as_integers(tensor: torch.Tensor) -> numpy.ndarray[Any, numpy.dtype[numpy.int64]]:
    dense = host(tensor).contiguous()
    if dense.dtype == torch.uint64:
        return dense.view(torch.int64).numpy().reshape(-1)
    return dense.to(torch.int64).numpy().reshape(-1)

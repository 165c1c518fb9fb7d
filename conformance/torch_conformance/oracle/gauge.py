"""Results that are not unique, and what is unique of them.

A sign of an eigenvector, an order of equal elements: PyTorch leaves them open, so the suite compares
what they must have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Outputs = Sequence[Any]
Gauge = Callable[[Any, Any], Any]
"""(the sample's input, the operator's result) -> what is unique of the result."""


def _svd(_input: Any, out: Any) -> Any:
    u, s, vh = out
    k = s.shape[-1]
    return s, (u[..., :k] * s.unsqueeze(-2).to(u.dtype)) @ vh[..., :k, :]


def _svd_old(_input: Any, out: Any) -> Any:
    u, s, v = out
    k = s.shape[-1]
    return s, (u[..., :k] * s.unsqueeze(-2).to(u.dtype)) @ v[..., :k].mH


def _eigh(_input: Any, out: Any) -> Any:
    values, vectors = out
    return values, (vectors * values.unsqueeze(-2).to(vectors.dtype)) @ vectors.mH


def _sorted_values(_input: Any, out: torch.Tensor) -> Any:
    order = torch.argsort(torch.view_as_real(out)[..., 0] + 1e-3 * torch.view_as_real(out)[..., 1], dim=-1)
    return torch.gather(out, -1, order)


def _eig(matrix: Any, out: Any) -> Any:
    values, vectors = out
    return _sorted_values(matrix, values), matrix.to(vectors.dtype) @ vectors - vectors * values.unsqueeze(-2)


def _qr(_input: Any, out: Any) -> Any:
    q, r = out
    return (r.abs(),) if q.numel() == 0 and r.numel() else (q @ r, r.abs())


def _values_only(_input: Any, out: Any) -> Any:
    """Of (values, indices): which of several equal elements was taken is open."""
    return (out[0],)


GAUGES: dict[str, Gauge] = {
    "linalg.svd": _svd,
    "svd": _svd_old,
    "svd_lowrank": lambda _input, out: (out[1],),
    "pca_lowrank": lambda _input, out: (out[1],),
    "linalg.eigh": _eigh,
    "linalg.eig": _eig,
    "linalg.eigvals": _sorted_values,
    "linalg.qr": _qr,
    "qr": _qr,
    "geqrf": lambda _input, out: (out[0].triu().abs(),),
    "sort": _values_only,
    "topk": _values_only,
    "kthvalue": _values_only,
    "median": lambda _input, out: (out[0],) if isinstance(out, tuple) else out,
    "nanmedian": lambda _input, out: (out[0],) if isinstance(out, tuple) else out,
    "mode": _values_only,
    "linalg.lstsq": _values_only,
    "linalg.lstsq.grad_oriented": _values_only,
}

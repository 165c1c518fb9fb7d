"""Componentwise checks of whole models, whose bounds come from rounding_noise.py."""

from __future__ import annotations

import dataclasses

import torch


@dataclasses.dataclass
class Check:
    """One comparison: `margin` is the largest error over its bound; above 1 it fails."""

    name: str
    margin: float
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.margin <= 1.0


def within(name: str, got: torch.Tensor, want: torch.Tensor, bound: torch.Tensor) -> Check:
    """Componentwise |got - want| <= bound. A NaN or a wrong shape fails with an infinite margin."""
    got = got.detach().cpu().double()
    if got.shape != want.shape:
        return Check(name, float("inf"), f"shape {tuple(got.shape)}, expected {tuple(want.shape)}")
    if got.numel() == 0:
        return Check(name, 0.0)
    ratio = (got - want).abs() / bound.clamp(min=1e-300)
    ratio = torch.where(got == want, torch.zeros_like(ratio), ratio)
    worst = ratio.flatten().nan_to_num(nan=float("inf"), posinf=float("inf")).max()
    position = int(ratio.flatten().nan_to_num(nan=float("inf")).argmax())
    note = f"at {position}: got {got.flatten()[position]:.9g}, expected {want.flatten()[position]:.9g}"
    return Check(name, float(worst), f"{note} +- {bound.flatten()[position]:.3g}")

"""Channels-last tensors keep their strides as on the CPU, and their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from ..oracle.operator import same_layout
from ..sources.own_cases import own
from ..tensors import tensors_of
from ..trial import Trial
from . import numbers

Operator = Callable[[torch.Tensor], Any]

OPERATORS: dict[str, Operator] = {
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.contiguous(),
    "to_channels_last": lambda x: x.contiguous().to(memory_format=torch.channels_last),
    "empty_like": lambda x: torch.empty_like(x).fill_(2),
    "zeros_like": lambda x: torch.zeros_like(x),
    "add": lambda x: x + x,
    "add_row": lambda x: x + numbers(x.device, 5),
    "mixed_add": lambda x: x + x.contiguous(),
    "relu": lambda x: torch.relu(x),
    "cast": lambda x: x.to(torch.bfloat16),
    "cat": lambda x: torch.cat([x, x], 1),
    "max_pool": lambda x: F.max_pool2d(x, 2),
    "permute": lambda x: x.permute(0, 2, 3, 1),
    "flatten": lambda x: x.flatten(1),
    "pad": lambda x: F.pad(x, (1, 1)),
    "in_place": lambda x: x.mul_(2),
    "upsample": lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest"),
}


def _define(name: str, operator: Operator) -> None:
    @own(f"memory_formats.{name}.channels_last.layout")
    def run(t: Trial, dtype: torch.dtype) -> None:
        def compute(d: Any) -> list[torch.Tensor]:
            x = numbers(d, 2, 3, 4, 5).to(memory_format=torch.channels_last)
            return tensors_of(operator(x))

        for got, want in zip(compute(t.device), compute("cpu"), strict=True):
            t.equal(got, want)
            t.require(same_layout(got, want), "layout", f"strides {got.stride()}, expected {want.stride()}")


for _name, _operator in OPERATORS.items():
    _define(_name, _operator)


@own("memory_formats.conv.channels_last.value")
def convolution(t: Trial, dtype: torch.dtype) -> None:
    """The same numbers whatever the strides of image and kernel. (Small integers: no rounding.)"""
    x, w = numbers("cpu", 2, 3, 5, 5, start=-70) % 5, numbers("cpu", 4, 3, 3, 3, start=-50) % 3
    want = F.conv2d(x, w, padding=1)
    for image in (torch.contiguous_format, torch.channels_last):
        for kernel in (torch.contiguous_format, torch.channels_last):
            a, b = x.to(t.device).to(memory_format=image), w.to(t.device).to(memory_format=kernel)
            t.equal(F.conv2d(a, b, padding=1), want, f"image {image}, kernel {kernel}")


@own("memory_formats.conv.channels_last.layout")
def convolution_of_channels_last(t: Trial, dtype: torch.dtype) -> None:
    """A network of channels-last images stays one: the first convolution's result is one too."""
    x = numbers(t.device, 2, 3, 5, 5).to(memory_format=torch.channels_last)
    w = numbers(t.device, 4, 3, 3, 3).to(memory_format=torch.channels_last)
    y = F.conv2d(x, w)
    t.require(y.is_contiguous(memory_format=torch.channels_last), "layout", f"strides {y.stride()}")

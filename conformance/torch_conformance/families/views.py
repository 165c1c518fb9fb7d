"""Views and their bases are one memory: reads, writes, chains, gradients."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..sources.own_cases import own
from ..trial import Trial
from . import FLOATS, MIXED, agree, numbers

View = Callable[[torch.Tensor], torch.Tensor]

VIEWS: dict[str, View] = {
    "slice": lambda x: x[1:3],
    "strided_slice": lambda x: x[:, ::2],
    "select": lambda x: x[2],
    "select_column": lambda x: x[:, 1],
    "transpose": lambda x: x.t(),
    "narrow": lambda x: x.narrow(1, 1, 3),
    "diagonal": lambda x: x.diagonal(),
    "view": lambda x: x.view(6, 4),
    "flatten": lambda x: x.view(-1)[5:17],
    "unsqueeze": lambda x: x.unsqueeze(1)[:, 0],
    "squeeze": lambda x: x.view(4, 1, 6).squeeze(1),
    "permute": lambda x: x.view(2, 2, 6).permute(2, 0, 1),
    "as_strided": lambda x: x.as_strided((3, 2), (7, 3), 2),
    "unfold": lambda x: x.unfold(1, 2, 2),
    "split": lambda x: x.split(2, 1)[1],
    "chunk": lambda x: x.chunk(3, 1)[2],
    "unbind": lambda x: x.unbind(1)[3],
    "movedim": lambda x: x.view(2, 2, 6).movedim(2, 0),
    "detach": lambda x: x.detach(),
    "chain": lambda x: x.t()[1:5, ::2].t()[0, 1:],
    "chain_offset": lambda x: x[1:].view(-1)[3:][1:].view(2, 7),
}


def _write(x: torch.Tensor) -> None:
    if x.dtype == torch.bool:
        x.logical_not_()
    else:
        x.mul_(2).add_(1)


def _define(name: str, view: View) -> None:
    @own(f"views.{name}.read.value", MIXED)
    def read(t: Trial, dtype: torch.dtype) -> None:
        agree(t, lambda d: view(numbers(d, 4, 6, dtype=dtype)).clone())

    @own(f"views.{name}.read.metadata")
    def metadata(t: Trial, dtype: torch.dtype) -> None:
        got, want = view(numbers(t.device, 4, 6, dtype=dtype)), view(numbers("cpu", 4, 6, dtype=dtype))
        t.require(got.stride() == want.stride(), "layout", f"strides {got.stride()}, expected {want.stride()}")
        t.require(got.storage_offset() == want.storage_offset(), "layout", f"offset {got.storage_offset()}")
        t.same_metadata(got, want)

    @own(f"views.{name}.write.base", MIXED)
    def write_through(t: Trial, dtype: torch.dtype) -> None:
        def compute(d: torch.device) -> list[torch.Tensor]:
            x = numbers(d, 4, 6, dtype=dtype)
            _write(view(x))
            return [x]

        agree(t, compute)

    @own(f"views.{name}.copy.base", MIXED)
    def copy_through(t: Trial, dtype: torch.dtype) -> None:
        def compute(d: torch.device) -> list[torch.Tensor]:
            x = numbers(d, 4, 6, dtype=dtype)
            y = view(x)
            y.copy_(numbers(d, *y.shape, dtype=dtype, start=40))
            return [x, y.clone()]

        agree(t, compute)


def _define_more(name: str, view: View) -> None:
    @own(f"views.{name}.fill.base")
    def fill_through(t: Trial, dtype: torch.dtype) -> None:
        def compute(d: torch.device) -> list[torch.Tensor]:
            x = numbers(d, 4, 6, dtype=dtype)
            view(x).fill_(-3)
            return [x]

        agree(t, compute)

    @own(f"views.{name}.base.seen")
    def base_write_is_seen(t: Trial, dtype: torch.dtype) -> None:
        def compute(d: torch.device) -> list[torch.Tensor]:
            x = numbers(d, 4, 6, dtype=dtype)
            y = view(x)
            before = y.clone()
            x.add_(100)
            return [y.clone(), y - before]

        agree(t, compute)

    if name == "detach":
        return

    @own(f"views.{name}.backward.grad", FLOATS)
    def gradient(t: Trial, dtype: torch.dtype) -> None:
        def compute(d: torch.device) -> list[torch.Tensor]:
            x = numbers(d, 4, 6, dtype=dtype).requires_grad_()
            (view(x) * 3).sum().backward()
            assert x.grad is not None
            return [x.grad]

        agree(t, compute)


for _name, _view in VIEWS.items():
    _define(_name, _view)
    _define_more(_name, _view)


@own("views.as_strided.overlapping.read")
def overlapping_windows(t: Trial, dtype: torch.dtype) -> None:
    """Windows that overlap are read like any other."""
    agree(t, lambda d: numbers(d, 24).as_strided((5, 6), (3, 2), 1) * 2)


@own("views.expand.read.value", MIXED)
def expanded(t: Trial, dtype: torch.dtype) -> None:
    agree(
        t,
        lambda d: [numbers(d, 3, 1, dtype=dtype).expand(3, 5).clone(), numbers(d, 4, dtype=dtype).expand(2, 4).sum(1)],
    )


@own("views.real.write.base", (torch.complex64,))
def real_part(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: torch.device) -> list[torch.Tensor]:
        z = torch.complex(numbers(d, 6), numbers(d, 6, start=20))
        z.real.mul_(2)
        z.imag[1:4].zero_()
        torch.view_as_real(z)[5, 0] = 7
        return [z]

    agree(t, compute)


@own("views.conj.lazy.value", (torch.complex64,))
def lazy_conjugate(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: torch.device) -> list[torch.Tensor]:
        z = torch.complex(numbers(d, 2, 3), numbers(d, 2, 3, start=20))
        return [z.conj().clone(), z.conj() + 1, z.conj().t().contiguous(), z.conj().imag.clone(), z.mH @ z]

    agree(t, compute)


@own("views.conj.copy.host", (torch.complex64,))
def lazy_bits_survive_a_copy(t: Trial, dtype: torch.dtype) -> None:
    z = torch.complex(numbers("cpu", 4), numbers("cpu", 4, start=9))
    t.require(torch.equal(z.to(t.device).conj().cpu(), z.conj()), "value", "conj() was lost on the way to the CPU")
    t.require(torch.equal(z.conj().to(t.device).cpu(), z.conj()), "value", "conj() was lost on the way to the device")
    negative = z.to(t.device).conj().imag
    t.require(torch.equal(negative.cpu(), z.conj().imag), "value", "the lazy negative bit was lost")


@own("views.view_dtype.read.bits", (torch.float32,))
def other_dtype(t: Trial, dtype: torch.dtype) -> None:
    agree(t, lambda d: [numbers(d, 4, 6).view(torch.int32), numbers(d, 4, 6).view(torch.uint8)])


@own("views.split.write.siblings")
def siblings_share_one_memory(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: torch.device) -> list[torch.Tensor]:
        x = numbers(d, 6, 4)
        a, b, c = x.split(2)
        b.add_(a)
        a.zero_()
        c.copy_(b)
        return [x, a.clone(), b.clone(), c.clone()]

    agree(t, compute)

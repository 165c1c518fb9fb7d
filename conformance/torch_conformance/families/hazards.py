"""Order of reads and writes of the same memory, through names that don't show that it is the same."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..case import Level
from ..sources.own_cases import own
from ..trial import Trial
from . import agree, numbers

Program = Callable[[torch.device], list[torch.Tensor]]


def _read_before_write(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 8)
    a = x + 1
    x.mul_(10)
    return [a, x]


def _write_after_write(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 8)
    x.fill_(1)
    x.fill_(2)
    y = x.clone()
    x.fill_(3)
    return [x, y]


def _view_read_between_writes(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 4, 4)
    row, column = x[1], x[:, 1]
    row.fill_(50)
    a = column * 2
    column.fill_(60)
    b = row + 0
    return [x, a, b]


def _row_then_column(d: torch.device) -> list[torch.Tensor]:
    x = torch.zeros(5, 5, device=d)
    for i in range(5):
        x[i] = i
        x[:, i] = -i
    return [x]


def _shift(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 10)
    x[1:] = x[:-1].clone()
    x[:-1].copy_(x[1:].clone())
    return [x]


def _self_assignment(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 4, 4)
    x.copy_(x)
    x.add_(x)
    torch.mul(x, x, out=x)
    return [x]


def _transpose_in_place(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 4, 4)
    y = x.t()
    z = y + x
    x.sub_(1)
    return [z, y.clone(), y - x]


def _temporary_dies(d: torch.device) -> list[torch.Tensor]:
    total = torch.zeros(64, device=d)
    for i in range(50):
        temporary = torch.full((64,), float(i), device=d)
        total += temporary
        del temporary
        other = torch.full((64,), -1.0, device=d)
        del other
    return [total]


def _swap(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 6)
    x[0], x[5] = x[5].clone(), x[0].clone()
    x[[1, 2]] = x[[2, 1]]
    return [x]


def _ring(d: torch.device) -> list[torch.Tensor]:
    cache = torch.zeros(4, 3, device=d)
    seen = []
    for step in range(9):
        cache[step % 4] = numbers(d, 3, start=step)
        seen.append(cache.sum(0))
    return [cache, *seen]


def _scalar_stores(d: torch.device) -> list[torch.Tensor]:
    x = torch.zeros(4, 4, device=d)
    x[0, 0] = 1
    y = x.clone()
    x[0, 0] = 2
    x[1:3, 1:3] = 5
    x[2, 2] = x[0, 0]
    return [x, y]


def _resized_out(d: torch.device) -> list[torch.Tensor]:
    out = torch.empty(0, device=d)
    torch.add(numbers(d, 3), 1, out=out)
    first = out.clone()
    torch.add(numbers(d, 3), 2, out=out)
    return [first, out]


def _accumulate(d: torch.device) -> list[torch.Tensor]:
    x = numbers(d, 3).requires_grad_()
    for factor in (1, 2, 3):
        (x * factor).sum().backward()
    assert x.grad is not None
    kept = x.grad.clone()
    x.grad.zero_()
    (x * 4).sum().backward()
    return [kept, x.grad]


def _set_data(d: torch.device) -> list[torch.Tensor]:
    x, y = numbers(d, 4), numbers(d, 4, start=10)
    before = x + 0
    x.data = y
    x.add_(1)
    return [before, x, y]


def _long_chain(d: torch.device) -> list[torch.Tensor]:
    x = torch.zeros(4, device=d)
    for i in range(3000):
        x = x + 1 if i % 2 else x - 1
        if i % 500 == 0:
            x.add_(1)
    return [x]


PROGRAMS: dict[str, Program] = {
    "read_before_write": _read_before_write,
    "write_after_write": _write_after_write,
    "view_read_between_writes": _view_read_between_writes,
    "row_then_column": _row_then_column,
    "shift": _shift,
    "self_assignment": _self_assignment,
    "transpose_in_place": _transpose_in_place,
    "temporary_dies": _temporary_dies,
    "swap": _swap,
    "ring": _ring,
    "scalar_stores": _scalar_stores,
    "resized_out": _resized_out,
    "accumulated_gradients": _accumulate,
    "set_data": _set_data,
    "long_chain": _long_chain,
}


def _define(name: str, program: Program) -> None:
    @own(f"hazards.{name}.program.value")
    def run(t: Trial, dtype: torch.dtype) -> None:
        agree(t, program)


for _name, _program in PROGRAMS.items():
    _define(_name, _program)


@own("hazards.expanded.write.error")
def an_expanded_tensor_is_not_written(t: Trial, dtype: torch.dtype) -> None:
    t.raises(RuntimeError, lambda: numbers(t.device, 3, 1).expand(3, 4).add_(1))
    t.raises(RuntimeError, lambda: torch.add(numbers(t.device, 4), 1, out=numbers(t.device, 1).expand(4)))


@own("hazards.partial_overlap.write.error")
def a_partial_overlap_is_not_written(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 10)
    t.raises(RuntimeError, lambda: x[1:].add_(x[:-1]))
    agree(t, lambda d: x.cpu() if d.type == "cpu" else x)


@own("hazards.many.program.value", level=Level.FULL)
def many_windows(t: Trial, dtype: torch.dtype) -> None:
    """Thousands of small writes through views of one buffer."""

    def compute(d: torch.device) -> list[torch.Tensor]:
        x = torch.zeros(40, 40, device=d)
        for i in range(40):
            for j in range(0, 40, 7):
                x[i, j:].add_(1)
                x[j:, i].sub_(
                    x[i, j].clone()
                )  # of x[i, j] itself, which may be in the column, each reads what it likes
        return [x]

    agree(t, compute)

"""Operands in the middle of a storage, with strides of all kinds: the operator must not notice."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..sources.own_cases import own
from ..trial import Trial
from . import agree, numbers

Make = Callable[[torch.device], torch.Tensor]
Operator = Callable[[torch.Tensor], object]

OPERANDS: dict[str, Make] = {
    "offset": lambda d: numbers(d, 40)[5:29].view(4, 6),
    "odd_offset": lambda d: numbers(d, 41).view(-1)[1:25].view(4, 6),
    "row_stride": lambda d: numbers(d, 4, 9)[:, 2:8],
    "column_stride": lambda d: numbers(d, 4, 13)[:, 1::2],
    "transposed": lambda d: numbers(d, 6, 4).t(),
    "transposed_offset": lambda d: numbers(d, 8, 6)[1:7, 1:5].t(),
    "expanded": lambda d: numbers(d, 1, 6).expand(4, 6),
    "expanded_column": lambda d: numbers(d, 7)[2:6].unsqueeze(1).expand(4, 6),
    "single": lambda d: numbers(d, 40)[7:31].view(4, 6)[1:2, :].expand(4, 6),
}

OPERATORS: dict[str, Operator] = {
    "add": lambda x: x + x,
    "add_number": lambda x: x + 3,
    "mixed_add": lambda x: x + numbers(x.device, 4, 6),
    "relu": lambda x: torch.relu(x - 9),
    "sum": lambda x: [x.sum(), x.sum(0), x.sum(1)],
    "amax": lambda x: [x.amax(1), x.argmax(0)],
    "mm": lambda x: x @ torch.eye(6, device=x.device),
    "sort": lambda x: torch.sort(x, dim=1, stable=True),
    "cumsum": lambda x: x.cumsum(1),
    "cat": lambda x: torch.cat([x, x[1:]], 0),
    "stack": lambda x: torch.stack([x, x], 1),
    "index_select": lambda x: x.index_select(0, torch.tensor([2, 0, 3], device=x.device)),
    "index": lambda x: x[torch.tensor([1, 3], device=x.device)],
    "index_columns": lambda x: x[:, torch.tensor([5, 0], device=x.device)],
    "gather": lambda x: x.gather(1, torch.tensor([[0, 5], [1, 4], [2, 3], [3, 2]], device=x.device)),
    "where": lambda x: torch.where(x > 9, x, -x),
    "mask": lambda x: x[x > 9],
    "masked_select": lambda x: x.masked_select(x > 9),
    "clone": lambda x: [x.clone(), x.contiguous()],
    "to_cpu": lambda x: x.cpu(),
    "cast": lambda x: [x.to(torch.int64), x.to(torch.bfloat16), x.to(torch.int32)],
    "reshape": lambda x: x.reshape(3, 8),
    "flip": lambda x: x.flip(1),
    "roll": lambda x: x.roll(2, 1),
    "tril": lambda x: x.tril(),
    "repeat": lambda x: x.repeat(2, 1),
    "scatter": lambda x: torch.zeros(4, 6, device=x.device).scatter(
        1, torch.arange(6, device=x.device).flip(0).expand(4, 6), x
    ),
    "embedding": lambda x: torch.nn.functional.embedding(torch.tensor([3, 1], device=x.device), x),
    "nonzero": lambda x: [(x > 12).nonzero(), x.count_nonzero(1)],
    "tolist": lambda x: torch.tensor(x.tolist()),
    "item": lambda x: torch.tensor([x[1, 2].item(), x[3, 5].item()]),
}


def _define(name: str, operator: Operator) -> None:
    for layout, make in OPERANDS.items():

        @own(f"offsets.{name}.{layout}.value")
        def run(t: Trial, dtype: torch.dtype, make: Make = make) -> None:
            agree(t, lambda d: operator(make(d)))


for _name, _operator in OPERATORS.items():
    _define(_name, _operator)


def _define_write(name: str, write: Callable[[torch.Tensor], object]) -> None:
    for layout, make in OPERANDS.items():
        if "expanded" in layout or layout == "single":
            continue

        @own(f"offsets.{name}.{layout}.write")
        def run(t: Trial, dtype: torch.dtype, make: Make = make) -> None:
            def compute(d: torch.device) -> list[torch.Tensor]:
                x = make(d)
                write(x)
                storage = torch.empty(0, device=d).set_(x.untyped_storage())
                return [x.clone(), storage]

            agree(t, compute)


for _name, _write in {
    "add_": lambda x: x.add_(1),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(7),
    "copy_": lambda x: x.copy_(numbers(x.device, 4, 6, start=50)),
    "copy_from_cpu": lambda x: x.copy_(numbers("cpu", 4, 6, start=50)),
    "masked_fill_": lambda x: x.masked_fill_(x > 9, -1),
    "index_put_": lambda x: x.__setitem__(torch.tensor([0, 2], device=x.device), 5.0),
    "index_add_": lambda x: x.index_add_(0, torch.tensor([1, 1], device=x.device), numbers(x.device, 2, 6)),
    "scatter_": lambda x: x.scatter_(1, torch.tensor([[0], [1], [2], [3]], device=x.device), -2.0),
    "out_add": lambda x: torch.add(numbers(x.device, 4, 6), 1, out=x),
    "out_sum": lambda x: torch.sum(numbers(x.device, 2, 6), 0, out=x[2]),
    "clamp_": lambda x: x.clamp_(5, 9),
    "slice_assign": lambda x: x[1:3].__setitem__((slice(None), slice(0, None, 2)), 4.0),
}.items():
    _define_write(_name, _write)


@own("offsets.nonzero.zeros.value")
def nonzero_of_views(t: Trial, dtype: torch.dtype) -> None:
    def compute(d: torch.device) -> list[torch.Tensor]:
        x = numbers(d, 8, 6) % 3
        x[2, 1:4] = 0
        return [view.nonzero() for view in (x[1:5], x[:, 1::2], x.t()[2:], x[3].expand(3, 6), x[1:5] > 1)]

    agree(t, compute)

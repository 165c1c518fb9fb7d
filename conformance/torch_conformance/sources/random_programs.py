"""Random programs over a few tensors, with views and writes in place; small integers, so that every bit counts.

A program is a list of choices. A failing one is shrunk: choices are left out as long as it still fails,
and what remains is printed as Python.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from ..case import Case, Group, Level
from ..trial import CheckError, Trial

Program = list[tuple[str, int, int, int]]
"""(operation, target, operand, a number) each."""

COUNT = {Level.QUICK: 12, Level.FULL: 150, Level.EXHAUSTIVE: 1500}

Operation = Callable[[list[torch.Tensor], int, int, int], None]


def _binary(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Operation:
    def run(x: list[torch.Tensor], target: int, operand: int, number: int) -> None:
        x.append(function(x[target], _like(x[operand], x[target])))

    return run


def _like(value: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    """`value` brought to the shape of another, through views where that goes."""
    if value.shape == shape.shape:
        return value
    flat = value.reshape(-1)
    if flat.numel() == 0 or shape.numel() == 0:
        return torch.zeros_like(shape)
    return flat[torch.arange(shape.numel(), device=flat.device) % flat.numel()].view(shape.shape)


def _wrapped(x: torch.Tensor) -> torch.Tensor:
    return torch.remainder(x, 64)


def _view(function: Callable[[torch.Tensor, int], torch.Tensor]) -> Operation:
    def run(x: list[torch.Tensor], target: int, operand: int, number: int) -> None:
        if x[target].numel() > 1:
            x.append(function(x[target], number))

    return run


def _write(function: Callable[[torch.Tensor, torch.Tensor, int], Any]) -> Operation:
    def run(x: list[torch.Tensor], target: int, operand: int, number: int) -> None:
        if x[target].numel() and all(s > 0 or n == 1 for s, n in zip(x[target].stride(), x[target].shape, strict=True)):
            function(x[target], _like(x[operand], x[target]).clone(), number)

    return run


OPERATIONS: dict[str, Operation] = {
    "add": _binary(lambda a, b: _wrapped(a + b)),
    "mul": _binary(lambda a, b: _wrapped(a * b)),
    "sub": _binary(lambda a, b: _wrapped(a - b)),
    "maximum": _binary(torch.maximum),
    "where": _binary(lambda a, b: torch.where(a > b, a, b + 1)),
    "transpose": _view(lambda a, n: a.transpose(0, -1)),
    "slice": _view(lambda a, n: a[n % a.shape[0] :]),
    "step": _view(lambda a, n: a[..., :: 1 + n % 2]),
    "select": _view(lambda a, n: a[n % a.shape[0]].reshape(-1) if a.dim() == 1 else a[n % a.shape[0]]),
    "flatten": _view(lambda a, n: a.reshape(-1)),
    "unsqueeze": _view(lambda a, n: a.unsqueeze(0) if a.dim() < 3 else a),
    "diagonal": _view(lambda a, n: a.diagonal(0, -2, -1) if a.dim() > 1 else a),
    "sum": _view(lambda a, n: _wrapped(a.sum(0, keepdim=True))),
    "amax": _view(lambda a, n: a.amax(-1, keepdim=True)),
    "cumsum": _view(lambda a, n: _wrapped(a.cumsum(0))),
    "sort": _view(lambda a, n: a.sort(-1).values),
    "flip": _view(lambda a, n: a.flip(0)),
    "cat": _view(lambda a, n: torch.cat([a, a[:1]])),
    "clone": _view(lambda a, n: a.clone()),
    "add_": _write(lambda a, b, n: a.add_(n % 5)),
    "copy_": _write(lambda a, b, n: a.copy_(b)),
    "sub_": _write(lambda a, b, n: a.sub_(b).remainder_(64)),
    "fill_": _write(lambda a, b, n: a.fill_(n)),
    "mul_": _write(lambda a, b, n: a.mul_(n % 3).remainder_(64)),
    "masked_fill_": _write(lambda a, b, n: a.masked_fill_(a > n, -1)),
    "index_fill_": _write(lambda a, b, n: a.index_fill_(0, torch.tensor([n % a.shape[0]], device=a.device), n)),
    "out": _write(lambda a, b, n: torch.add(b, n % 7, out=a)),
}


def make_program(seed: int, length: int) -> Program:
    chooser = random.Random(seed)
    names = list(OPERATIONS)
    return [
        (chooser.choice(names), chooser.randrange(64), chooser.randrange(64), chooser.randrange(12))
        for _ in range(length)
    ]


def run_program(program: Program, device: Any, dtype: torch.dtype) -> list[torch.Tensor]:
    """All tensors at the end, on the CPU."""
    x = [
        torch.arange(24, device=device).to(dtype).view(4, 6),
        torch.arange(12, device=device).to(dtype).view(2, 2, 3) % 5,
    ]
    for name, target, operand, number in program:
        OPERATIONS[name](x, target % len(x), operand % len(x), number)
        if len(x) > 12:
            del x[2]
    return [value.cpu() for value in x]


def difference(program: Program, device: Any, dtype: torch.dtype) -> str:
    """What differs between the device and the CPU; empty if nothing does."""
    want = run_program(program, "cpu", dtype)
    try:
        got = run_program(program, device, dtype)
    except NotImplementedError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape or not torch.equal(a, b):
            return f"tensor {number} is {a.tolist()}, expected {b.tolist()}"
    return ""


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The program without what is not needed to fail."""
    size = len(program) // 2
    while size:
        at = 0
        while at < len(program):
            shorter = program[:at] + program[at + size :]
            if fails(shorter):
                program = shorter
            else:
                at += size
        size //= 2
    return program


def _check(t: Trial, seed: int, dtype: torch.dtype) -> None:
    program = make_program(seed, 30)
    found = difference(program, t.device, dtype)
    t.informative = True
    if found:
        small = shrink(program, lambda p: bool(difference(p, t.device, dtype)))
        raise CheckError("value", f"{difference(small, t.device, dtype)} after {small} (seed {seed})")


def groups(level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each dtype."""
    for dtype in (
        (torch.float32, torch.int64)
        if level is Level.QUICK
        else (torch.float32, torch.int64, torch.bfloat16, torch.int32)
    ):
        yield _group(dtype)


def _group(dtype: torch.dtype) -> Group:
    def make(level: Level) -> Iterable[Case]:
        for seed in range(COUNT[level]):
            yield Case(
                group.case_name("views_and_writes", "value", seed), functools.partial(_check, seed=seed, dtype=dtype)
            )

    group = Group("programs", "random", str(dtype).removeprefix("torch."), make, constant="compares whole programs")
    return group

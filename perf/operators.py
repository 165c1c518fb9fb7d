"""Every operator of PyTorch's database at about 1 Mi elements, on the device and on the CPU.

A sample of the database is small. It is repeated along its first dimensions until its largest tensor
has a million elements, where the operator takes that; matrices that are decomposed stay as they are.
"""

from __future__ import annotations

import fnmatch
import json
import math
import pathlib
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from timing import ratio

ELEMENTS = 1 << 20
SLOW = 0.4
"""Seconds of one call on the CPU, above which the operator is measured as the database has it."""
LEFT_OUT = {"jiterator", "_segment_reduce", "sparse", "to_sparse", "empty", "new_empty", "item", "chalf"}
"""What is not the device's, or no work."""

GOAL_EACH, GOAL_MEDIAN = 3.0, 1.0


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _map(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _map(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_map(item, change) for item in value)
    return value


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, dict):
        return {key: _moved(item, device) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, device) for item in value)
    if isinstance(value, torch.device) or value == "cpu":
        return torch.device(device)
    return value.to(device) if isinstance(value, torch.Tensor) else value


def _grown(sample: tuple[Any, Any, Any]) -> tuple[Any, Any, Any] | None:
    """The sample with the first dimension that all its large tensors share repeated."""
    largest = max(_tensors(sample), key=lambda t: t.numel(), default=None)
    if largest is None or largest.dim() == 0 or largest.numel() == 0:
        return None
    times = math.ceil(ELEMENTS / largest.numel())

    def grow(t: torch.Tensor) -> torch.Tensor:
        if t.dim() != largest.dim() or t.shape[0] not in (largest.shape[0],):
            return t
        return t.repeat(times, *([1] * (t.dim() - 1)))

    return _map(sample, grow)


class Measured:
    """One operator: its call in both sizes."""

    def __init__(self, info: Any) -> None:
        self.info = info
        self.name = info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")

    def _run(self, sample: tuple[Any, Any, Any]) -> Any:
        value, args, kwargs = sample
        return self.info.op(value, *args, **kwargs)

    def _works(self, sample: tuple[Any, Any, Any]) -> float | None:
        """Seconds of a call on the CPU, or None if it refuses."""
        try:
            self._run(sample)
            begin = time.perf_counter()
            self._run(sample)
            return time.perf_counter() - begin
        except Exception:
            return None

    def sample(self) -> tuple[tuple[Any, Any, Any], int] | None:
        """The largest sample, grown if the operator takes it; how many elements it has."""
        torch.manual_seed(0)
        made = [(s.input, s.args, s.kwargs) for s in self.info.sample_inputs("cpu", torch.float32, requires_grad=False)]
        made = [s for s in made if any(t.numel() for t in _tensors(s)) and all(not t.is_sparse for t in _tensors(s))]
        made.sort(key=lambda s: -max(t.numel() for t in _tensors(s)))
        for small in made[:4]:
            for sample in (_grown(small), small):
                if sample is None:
                    continue
                seconds = self._works(sample)
                if seconds is not None and seconds < SLOW:
                    return sample, max(t.numel() for t in _tensors(sample))
        return None

    def measure(self) -> dict[str, Any] | None:
        """Name, elements, ratio; None where there is nothing to measure."""
        found = self.sample()
        if found is None:
            return None
        sample, elements = found
        ours = tuple(_moved(part, "tpu") for part in sample)
        value = ratio(lambda: self._run(ours), lambda: self._run(sample), pairs=3, budget=0.25)
        return {"name": self.name, "elements": elements, "ratio": round(value, 3)}


def measure_operators(select: str, output: pathlib.Path) -> int:
    """Prints and writes the table, worst first."""
    from torch.testing._internal.common_methods_invocations import op_db

    rows = []
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in op_db:
            operator = Measured(info)
            if info.name.split(".")[0] in LEFT_OUT or not fnmatch.fnmatch(operator.name, select):
                continue
            if torch.float32 not in info.dtypes:
                continue
            try:
                row = operator.measure()
            except Exception as error:
                print(f"   error  {operator.name}: {str(error).splitlines()[0][:80]}", flush=True)
                continue
            if row is not None:
                rows.append(row)
                print(f"{row['ratio']:8.3f}  {row['elements']:9d}  {row['name']}", flush=True)
    rows.sort(key=lambda row: -row["ratio"])
    output.mkdir(parents=True, exist_ok=True)
    (output / "operators.json").write_text(json.dumps(rows, indent=1) + "\n")
    median = statistics.median(row["ratio"] for row in rows)
    above = sum(row["ratio"] > GOAL_EACH for row in rows)
    print(f"median {median:.3f} (goal {GOAL_MEDIAN}); {above} of {len(rows)} above {GOAL_EACH}")
    return 0

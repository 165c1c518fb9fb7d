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
from typing import Any

import torch
from timing import ratio
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

ELEMENTS = 1 << 20
SLOW = 0.4
"""Seconds of one call on the CPU, above which the operator is measured as the database has it."""
LEFT_OUT = {"jiterator", "_segment_reduce", "sparse", "to_sparse", "empty", "new_empty", "item", "chalf"}
"""What is not the device's, or no work."""

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "operator_speed.md"
GOAL_EACH, GOAL_MEDIAN = 3.0, 1.0
EXPLAINED_FROM = 1.5
REASONS = {
    "linalg.*": "a decomposition in PyTorch's own kernel: calling it through a program costs a few microseconds more",
    "cov": "likewise a handful of elements: what is measured is the cost of a call",
    "*space.tensor_overload": "one element: the cost of a call",
    "ormqr": "a decomposition in PyTorch's own kernel, and a small one",
    "nn.functional.multi_margin_loss": "a handful of elements: the cost of a call",
    "mv": "rows of ten elements: a row's sum does not fill a vector",
    "*mm": "matrices of ten rows or columns fill a tenth of the MXU's tile",
    "matmul": "matrices of ten rows or columns fill a tenth of the MXU's tile",
    "*cdist": "vectors of five elements: a row's sum does not fill a vector",
    "*pool*": "windows are read for each of their elements, at strides; the CPU's kernels keep rows in registers",
    "*interpolate*": "the weights' products and sums go through memory once more than in the CPU's kernels",
    "*upsample*": "the weights' products and sums go through memory once more than in the CPU's kernels",
    "*grid_sampl*": "each corner is a gather and a product of its own; the CPU's kernel does all of them at once",
    "*pad*": "one pass over memory for each padded dimension",
    "*max_unpool*": "positions are checked first, in a pass of their own",
    "*scatter*": "positions are checked first, and old values copied, in passes of their own",
    "index_put": "positions are checked first, and old values copied, in passes of their own",
    "index_select": "a handful of elements: the cost of a call",
    "take": "positions are checked first, in a pass of their own",
    "*min*": "sums and extremes over a middle dimension of five elements: half of each vector is empty",
    "*max*": "sums and extremes over a middle dimension of five elements: half of each vector is empty",
    "*norm*": "groups of five elements: half of each vector is empty",
    "logsumexp": "groups of five elements: half of each vector is empty",
    "kthvalue": "keys are made of all elements first",
    "topk": "keys are made of all elements first",
    "*ctc_loss": "PyTorch's own kernel, its operands and results copied",
    "repeat_interleave": "each element is stored a few times: runs too short for a vector",
    "*_copy": "strided copies of short runs",
    "block_diag": "strided copies of short runs",
    "abs": "moves memory and nothing else: its ratio varies from run to run",
    "sub": "moves memory and nothing else: its ratio varies from run to run",
    "add": "moves memory and nothing else: its ratio varies from run to run",
    "nonzero_static": "PyTorch's own kernel, its result copied",
    "stft": "the transform is PyTorch's own kernel, its result copied",
    "*vander": "a running product, element after element",
    "*conv_transpose2d": "small images: packing the kernel costs as much as the products",
    "*cross_entropy": "its parts are programs of their own in this mode",
    "*margin_loss": "all pairs of classes are formed, where the CPU stops at the first -1",
    "argwhere": "the positions are transposed after they are found",
    "masked.*": "its parts are programs of their own in this mode",
}
"""Why an operator is slower, by pattern of its name; the first that fits."""


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _moved(value: Any, device: str) -> Any:
    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf == "cpu"):
            return torch.device(device)
        return leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf

    return tree_map(move, value)


def _grown(sample: tuple[Any, Any, Any]) -> tuple[Any, Any, Any] | None:
    """The sample with the first dimension that all its large tensors share repeated."""
    largest = max(_tensors(sample), key=lambda t: t.numel(), default=None)
    if largest is None or largest.dim() == 0 or largest.numel() == 0:
        return None
    times = math.ceil(ELEMENTS / largest.numel())

    def grow(t: torch.Tensor) -> torch.Tensor:
        fits = t.dim() == largest.dim() and t.shape[0] == largest.shape[0]
        return t.repeat(times, *([1] * (t.dim() - 1))) if fits else t

    return tree_map_only(torch.Tensor, grow, sample)


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
        ours = _moved(sample, "tpu")
        value = ratio(lambda: self._run(ours), lambda: self._run(sample), pairs=3, budget=0.25)
        return {"name": self.name, "elements": elements, "ratio": round(value, 3)}


def _document(rows: list[dict[str, Any]], median: float) -> str:
    """The table of operators that are slower than on the CPU."""
    lines = [
        "# Speed of operators",
        "",
        "Written by `ci/bench --ops`: the emulator's time over that of PyTorch's CPU kernel for a call in Strict",
        "Eager, both on the host that ran it, at about 1 Mi elements where the operator takes them. Machines differ,",
        "and a ratio near 1 varies by a fifth from run to run.",
        "",
        f"{len(rows)} operators: the median ratio is {median:.2f} (goal {GOAL_MEDIAN:g}), and"
        f" {sum(row['ratio'] > GOAL_EACH for row in rows)} are above {GOAL_EACH:g}. Those above 1, worst first:",
        "",
        "| Ratio | Elements | Operator | Why |",
        "|--:|--:|---|---|",
    ]
    for row in rows:
        if row["ratio"] <= 1:
            break
        fits = (text for pattern, text in REASONS.items() if fnmatch.fnmatch(row["name"], pattern))
        why = next(fits, "") if row["ratio"] > EXPLAINED_FROM else ""
        lines.append(f"| {row['ratio']:.2f} | {row['elements']} | {row['name']} | {why} |")
    return "\n".join(lines) + "\n"


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
    if select == "*":
        DOCUMENT.write_text(_document(rows, median))
    print(f"median {median:.3f} (goal {GOAL_MEDIAN}); {above} of {len(rows)} above {GOAL_EACH}")
    return 0

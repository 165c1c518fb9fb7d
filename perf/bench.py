"""Host speed of the emulated device against PyTorch's CPU backend.

    ./ci/bench                      all
    ./ci/bench --select 'matmul*'   some
    ./ci/bench --ops                every operator of PyTorch's database at 1 Mi elements

Both sides of a ratio run alternately in one process on equal numbers of threads; a ratio is the
median over pairs of our time / the other's, so smaller is better. Machines differ: only ratios of
one run mean something. Writes build/bench/summary.json.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator

import torch
from operators import measure_operators
from timing import Thunk, host_seconds, ratio
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))


def on_both(make: Callable[[str], Thunk], **options) -> float:
    return ratio(make("tpu"), make("cpu"), **options)


def small_add() -> float:
    def make(device: str) -> Thunk:
        a, b = torch.ones(4, 4, device=device), torch.ones(4, 4, device=device)
        return lambda: a + b

    return on_both(make, pairs=15, timer=lambda fn, _calls: host_seconds(fn, 1000))


def matmul(m: int, n: int, k: int, dtype: torch.dtype = torch.float32) -> Callable[[str], Thunk]:
    def make(device: str) -> Thunk:
        generator = torch.Generator().manual_seed(0)
        a = torch.randn(m, k, generator=generator).to(device=device, dtype=dtype)
        b = torch.randn(k, n, generator=generator).to(device=device, dtype=dtype)
        return lambda: a @ b

    return make


def with_precision(name: str, fn: Thunk) -> Thunk:
    precision = getattr(torch.tpu.Precision, name)

    def call():
        with torch.tpu.precision(precision):
            return fn()

    return call


def pointwise(fn: Callable[[torch.Tensor, torch.Tensor], object], *shape: int) -> Callable[[str], Thunk]:
    def make(device: str) -> Thunk:
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(*shape, generator=generator).to(device)
        y = torch.randn(*shape, generator=generator).to(device)
        return lambda: fn(x, y)

    return make


def convolution(channels: int, outputs: int, pixels: int, kernel: int, stride: int) -> Callable[[str], Thunk]:
    def make(device: str) -> Thunk:
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(8, channels, pixels, pixels, generator=generator).to(device)
        w = torch.randn(outputs, channels, kernel, kernel, generator=generator).to(device)
        return lambda: F.conv2d(x, w, stride=stride, padding=kernel // 2)

    return make


def training_step(example_name: str) -> Callable[[str], Thunk]:
    def make(device: str) -> Thunk:
        example = __import__(example_name)
        model = example.make_model().to(device)
        batch = [part.to(device) for part in example.make_batch(0)]
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

        def step():
            optimizer.zero_grad()
            example.loss_of(model, *batch).backward()
            optimizer.step()

        return step

    return make


def compile_milliseconds() -> float:
    """Median time the compiler takes for a one-op program of a new shape, in ms."""
    torch.accelerator.synchronize()
    known = len(torch.tpu._get_cache_stats()["per_entry_stats"])
    for n in range(1, 12):
        x = torch.ones(1000 + n, device="tpu")
        x.tanh()
    torch.accelerator.synchronize()
    entries = torch.tpu._get_cache_stats()["per_entry_stats"]
    durations = [entry["compilation_duration"] for entry in entries]
    assert len(durations) > known
    return statistics.median(durations) * 1e3


def look_up_microseconds() -> float:
    """From an operator's arguments to its program in the warm cache, in µs (median of 9)."""
    program = ROOT / "build" / "backend" / "eager" / "torch_tpu_lookup_bench"
    flags = ["--benchmark_filter=^look_up$", "--benchmark_repetitions=9", "--benchmark_format=json"]
    report = json.loads(subprocess.run([program, *flags], check=True, capture_output=True, text=True).stdout)
    (median,) = (row for row in report["benchmarks"] if row.get("aggregate_name") == "median")
    assert median["time_unit"] == "ns"
    return median["real_time"] / 1e3


def benchmarks() -> Iterator[tuple[str, float, Callable[[], float]]]:
    """Name, goal, and how to measure."""
    yield "host time of a 4x4 add", 1.0, small_add
    yield "matmul 1024^3, one pass", 1.25, lambda: on_both(matmul(1024, 1024, 1024))
    yield "matmul 4096x4096x1024, one pass", 1.25, lambda: on_both(matmul(4096, 4096, 1024), pairs=3)
    yield (
        "matmul 1024^3, bfloat16 / our float32",
        1.0,
        lambda: ratio(matmul(1024, 1024, 1024, torch.bfloat16)("tpu"), matmul(1024, 1024, 1024)("tpu")),
    )
    yield (
        "matmul 1024^3, three passes / one pass",
        3.2,
        lambda: ratio(with_precision("HIGH", matmul(1024, 1024, 1024)("tpu")), matmul(1024, 1024, 1024)("tpu")),
    )
    four_mi = (2048, 2048)
    for name, fn in (
        ("add", lambda x, y: x + y),
        ("multiply by a number", lambda x, y: x * 0.5),
        ("relu", lambda x, y: torch.relu(x)),
        ("exp", lambda x, y: torch.exp(x)),
        ("tanh", lambda x, y: torch.tanh(x)),
        ("gelu", lambda x, y: F.gelu(x)),
        ("sigmoid", lambda x, y: torch.sigmoid(x)),
        ("where", lambda x, y: torch.where(x > 0, x, y)),
    ):
        yield f"elementwise {name}, 4 Mi", 1.0, lambda fn=fn: on_both(pointwise(fn, *four_mi))
    yield "softmax 4096x1024", 1.0, lambda: on_both(pointwise(lambda x, y: torch.softmax(x, -1), 4096, 1024))
    yield "layer norm 4096x1024", 1.0, lambda: on_both(pointwise(lambda x, y: F.layer_norm(x, (1024,)), 4096, 1024))
    yield "sum over rows 4096x1024", 1.0, lambda: on_both(pointwise(lambda x, y: x.sum(1), 4096, 1024))
    for channels, outputs, pixels, kernel, stride in (
        (64, 64, 56, 3, 1),
        (64, 128, 56, 3, 2),
        (128, 128, 28, 3, 1),
        (256, 256, 14, 3, 1),
        (512, 512, 7, 3, 1),
        (3, 64, 224, 7, 2),
        (256, 512, 14, 1, 2),
    ):
        yield (
            f"convolution {channels}->{outputs} {kernel}x{kernel}/{stride} at {pixels}",
            1.3,
            lambda shape=(channels, outputs, pixels, kernel, stride): on_both(convolution(*shape), pairs=3),
        )
    yield "compile a one-op program / 15 ms", 1.0, lambda: compile_milliseconds() / 15.0
    yield "look a warm program up / 1 µs", 1.0, look_up_microseconds
    for example in ("gpt_characters", "digits_cnn", "resnet18"):
        yield f"training step {example}", 1.5, lambda example=example: on_both(training_step(example), pairs=5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default="*", help="pattern over names")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "bench")
    parser.add_argument("--ops", action="store_true", help="operators of PyTorch's database instead")
    args = parser.parse_args()
    if args.ops:
        return measure_operators(args.select, args.output)
    print(f"threads: {torch.get_num_threads()}")
    print(f"{'ratio':>8} {'goal':>6}  name")
    rows = []
    for name, goal, measure in benchmarks():
        if not fnmatch.fnmatch(name, args.select):
            continue
        value = measure()
        rows.append({"name": name, "ratio": round(value, 4), "goal": goal, "met": value <= goal})
        print(f"{value:8.3f} {goal:6.2f}  {name}{'' if value <= goal else '  (missed)'}", flush=True)
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "summary.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{sum(row['met'] for row in rows)} of {len(rows)} goals met; {args.output / 'summary.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

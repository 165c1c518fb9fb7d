"""Times compiled programs beside PyTorch's CPU kernels, in turns, on as many threads each.

    compare_with_torch.py BUILD/emulator/compiler/tpu_compiler_bench [--threads N] [--rounds N]

Each line gives the smallest time of both (other work on the machine only ever adds to a time) and
their ratio: below 1, the compiled program is the faster one.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable

import torch
from torch.nn import functional


def torch_cases() -> dict[str, Callable[[], object]]:
    """What the benchmark's programs compute, by their names."""
    many = 4 << 20
    x, y, vector_out = torch.randn(many), torch.randn(many), torch.empty(many)
    matrix, matrix_out = torch.randn(4096, 1024), torch.empty(4096, 1024)
    weight, bias = torch.randn(1024), torch.randn(1024)
    square, square_out = torch.randn(2048, 2048), torch.empty(2048, 2048)
    images = torch.randn(32, 64, 28, 28)
    small, tiny = torch.randn(256, 256), torch.randn(4, 4)
    small_out, tiny_out = torch.empty(256, 256), torch.empty(4, 4)
    return {
        "add": lambda: torch.add(x, y, out=vector_out),
        "multiply": lambda: torch.mul(x, y, out=vector_out),
        "gelu": lambda: functional.gelu(x, approximate="tanh"),
        "exponential": lambda: torch.exp(x, out=vector_out),
        "softmax": lambda: torch.softmax(matrix, 1),
        "layer_norm": lambda: functional.layer_norm(matrix, (1024,), weight, bias),
        "sum_rows": lambda: matrix.sum(1),
        "sum_columns": lambda: matrix.sum(0),
        "sum_all": matrix.sum,
        "add_bias": lambda: torch.add(matrix, weight, out=matrix_out),
        "transpose_2048x2048": lambda: square_out.copy_(square.t()),
        "add_transposed_2048x2048": lambda: torch.add(square.t(), square, out=square_out),
        "batch_statistics_32x64x28x28": lambda: torch.var_mean(images, (0, 2, 3)),
        "add_256x256": lambda: torch.add(small, small, out=small_out),
        "add_4x4": lambda: torch.add(tiny, tiny, out=tiny_out),
    }


def time_torch(run: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    run()
    best = float("inf")
    for _ in range(15):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def time_compiled(benchmark: str, threads: int) -> dict[str, float]:
    """Seconds by name, of the fastest of some repetitions."""
    command = [benchmark, str(threads), "--benchmark_filter=^run/", "--benchmark_format=json"]
    command += ["--benchmark_min_time=0.0001", "--benchmark_repetitions=25"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    best: dict[str, float] = {}
    for line in json.loads(output)["benchmarks"]:
        if line["run_type"] == "iteration":
            name = line["name"].split("/")[1]
            best[name] = min(best.get(name, float("inf")), line["real_time"] * 1e-6)
    return best


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("benchmark", help="the built tpu_compiler_bench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    cases = torch_cases()
    ours = dict.fromkeys(cases, float("inf"))
    theirs = dict.fromkeys(cases, float("inf"))
    for _ in range(options.rounds):
        for name, seconds in time_compiled(options.benchmark, options.threads).items():
            ours[name] = min(ours[name], seconds)
        for name, run in cases.items():
            theirs[name] = min(theirs[name], time_torch(run))
    print(f"{'':32}{'compiled':>12}{'PyTorch':>12}{'ratio':>8}")
    for name in cases:
        ratio = ours[name] / theirs[name]
        print(f"{name:32}{ours[name] * 1e6:9.1f} us{theirs[name] * 1e6:9.1f} us{ratio:8.2f}")


if __name__ == "__main__":
    main()

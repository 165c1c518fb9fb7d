"""Times tpu_mxu_bench against PyTorch's CPU kernels on the same shapes, alternately.

    python compare_with_torch.py path/to/tpu_mxu_bench [--filter REGEX] [--rounds N]

Prints for each case our best time, PyTorch's best time and their ratio (below 1: we are faster).
PyTorch always computes in float32, as the reference point that the goals are stated against.
"""

import argparse
import json
import re
import subprocess
import time

import torch


def torch_matmul(layout, batch, m, n, k):
    lhs = torch.randn(batch, k, m).mT if layout[0] == "t" else torch.randn(batch, m, k)
    rhs = torch.randn(batch, n, k).mT if layout[1] == "t" else torch.randn(batch, k, n)
    if batch == 1:
        lhs, rhs = lhs[0], rhs[0]
    result = torch.empty(*lhs.shape[:-1], n)
    return lambda: torch.matmul(lhs, rhs, out=result)


def torch_conv(direction, batch, features, size, outputs, kernel, stride, groups):
    image = torch.randn(batch, features, size, size)
    weight = torch.randn(outputs, features // groups, kernel, kernel)
    pad = kernel // 2
    if direction == "forward":
        return lambda: torch.conv2d(image, weight, None, stride, pad, 1, groups)
    grad = torch.randn_like(torch.conv2d(image, weight, None, stride, pad, 1, groups))
    mask = [direction == "input_gradient", direction == "kernel_gradient", False]
    return lambda: torch.ops.aten.convolution_backward(
        grad, image, weight, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups, mask
    )


def torch_case(name):
    kind, first, *rest = name.split("/")
    sizes = [int(size) for size in rest[-1].split("x")]
    return torch_matmul(rest[1], *sizes) if kind == "matmul" else torch_conv(first, *sizes)


def best_seconds(call, seconds, clock):
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        call()
        best = min(best, clock() - start)
    return best


def run_bench(program, pattern, seconds):
    """Best call of each case whose name matches, in seconds."""
    output = subprocess.run(
        [
            program,
            f"--benchmark_filter={pattern}",
            f"--benchmark_min_time={seconds}",
            "--benchmark_format=json",
        ],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    times = {}
    for run in json.loads(output)["benchmarks"]:
        if run["run_type"] == "iteration":
            name = run["run_name"]
            times[name] = min(times.get(name, float("inf")), run["best_us"] * 1e-6)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--filter", default=".")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.05)
    arguments = parser.parse_args()
    listing = subprocess.run(
        [arguments.program, "--benchmark_list_tests"], capture_output=True, check=True, text=True
    ).stdout
    for name in listing.split():
        if not re.search(arguments.filter, name):
            continue
        case, threads = re.match(r"(.*)/(\d+)/", name).groups()
        torch.set_num_threads(int(threads))
        call = torch_case(case)
        clock = time.thread_time if threads == "1" else time.perf_counter  # as tpu_mxu_bench
        ours = theirs = float("inf")
        for _ in range(arguments.rounds):
            theirs = min(theirs, best_seconds(call, arguments.seconds * 3, clock))
            ours = min(ours, *run_bench(arguments.program, f"^{name}$", arguments.seconds).values())
        print(
            f"{case:60s} {threads} threads  ours {ours * 1e6:10.1f} us"
            f"  torch {theirs * 1e6:10.1f} us  ratio {ours / theirs:5.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

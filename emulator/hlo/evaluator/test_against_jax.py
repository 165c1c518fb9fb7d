"""The evaluator against jaxlib's StableHLO reference interpreter, on random programs.

The programs (tpu-hlo --random) have only ops whose bits both define: integers, moves of elements,
floating point without elementary functions and without sums whose order is ours. Every result must
have the same bits, where any NaN equals any NaN.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax", reason="jax is not installed")
ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes, which comes with jax, is missing")

TOOL = os.environ.get("TPU_HLO_TOOL")
PROGRAMS = int(os.environ.get("TPU_JAX_PROGRAMS", "300"))
SEED = int(os.environ.get("TPU_TEST_SEED", "1"))
pytestmark = pytest.mark.skipif(not TOOL, reason="TPU_HLO_TOOL does not name the tpu-hlo program")

DTYPES = {
    "i1": np.uint8,
    "i4": np.int8,
    "ui4": np.uint8,
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "complex<f32>": np.float32,
    "complex<f64>": np.float64,
}


def dtype(name: str) -> np.dtype:
    """The numpy type that holds elements of a StableHLO type."""
    if name in DTYPES:
        return np.dtype(DTYPES[name])
    return np.dtype(name.replace("ui", "uint") if name.startswith("ui") else "int" + name[1:])


class Reference:
    """reference_interpreter.py, started again whenever a program has ended it."""

    def __init__(self) -> None:
        self.process = None

    def run(self, directory: pathlib.Path) -> str:
        """Evaluates the program in `directory`; "ok" or what went wrong."""
        if self.process is None:
            script = pathlib.Path(__file__).with_name("reference_interpreter.py")
            self.process = subprocess.Popen(
                [sys.executable, script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        self.process.stdin.write(f"{directory}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().strip()
        if not line:
            self.process.wait()
            self.process = None
            return "error the interpreter ended"
        return line

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def result_types(text: str) -> list[str]:
    """The element types of @main's results."""
    returned = re.search(r"func public @main\(.*?\) -> (.*) \{\n", text).group(1)
    return re.findall(r"tensor<(?:\d+x)*([^>]+>?)>", returned)


def differs(actual: bytes, expected: bytes, element: str) -> bool:
    """Whether two tensors differ by more than the kind of a NaN."""
    kind = dtype(element)
    a, e = np.frombuffer(actual, kind), np.frombuffer(expected, kind)
    if a.shape != e.shape:
        return True
    bits = f"u{kind.itemsize}"
    different = a.view(bits) != e.view(bits)
    if element not in ("i1", "i4", "ui4") and kind.kind not in "iu":
        different &= ~(np.isnan(a.astype(np.float64)) & np.isnan(e.astype(np.float64)))
    return bool(different.any())


def evaluate(directory: pathlib.Path) -> None:
    """Runs the evaluator on the program in `directory`."""
    command = [TOOL, "--eval", directory / "program.mlir"]
    command += ["--inputs", directory, "--outputs", directory / "actual"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr + (directory / "program.mlir").read_text()


def test_random_programs(tmp_path: pathlib.Path) -> None:
    """Programs that the reference interpreter runs give the same bits here."""
    print(f"TPU_TEST_SEED={SEED}")
    reference = Reference()
    outcomes = collections.Counter()
    for seed in range(SEED, SEED + PROGRAMS):
        directory = tmp_path / str(seed)
        subprocess.run([TOOL, "--random", str(seed), directory], check=True)
        outcome = reference.run(directory)
        outcomes[outcome] += 1
        if outcome != "ok":
            continue
        evaluate(directory)
        text = (directory / "program.mlir").read_text()
        for i, element in enumerate(result_types(text)):
            actual = (directory / "actual" / f"{i}.bin").read_bytes()
            expected = (directory / "expected" / f"{i}.bin").read_bytes()
            assert not differs(actual, expected, element), f"seed {seed}, result {i}:\n{text}"
    reference.close()
    print(outcomes)
    # Most programs must have said something.
    assert outcomes["ok"] > PROGRAMS // 2, outcomes

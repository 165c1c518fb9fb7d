"""Switches faults on in a test build of the emulator, and shows that the conformance suite finds each.

    PYTHONPATH=build/seeded:build/python python ci/emulator_faults.py [--select PATTERN] [--write | --check]

They sit where only a compiler, a cache or a queue can be wrong (`tpu::seeded` in emulator/base), and are
hunted as conformance/tests/kill.py hunts those of the suite's own backend.
"""

from __future__ import annotations

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "conformance" / "tests"))

import kill  # noqa: E402
from torch_conformance.adapter import read_adapter  # noqa: E402

# Name, kind, and the cases that must find it.
FAULTS = [
    ("cache.integers_not_in_key", "stale cache entry", "repeated.*"),
    ("cache.bools_not_in_key", "stale cache entry", "repeated.*"),
    ("cache.texts_not_in_key", "stale cache entry", "repeated.*"),
    ("cache.lists_not_in_key", "stale cache entry", "repeated.*"),
    ("cache.numbers_not_in_key", "stale cache entry", "repeated.*"),
    ("cache.strides_not_in_key", "stale cache entry", "repeated.*"),
    ("simplify.reverse_dropped", "wrong rewrite", "axes.*"),
    ("simplify.attributes_not_compared", "wrong rewrite", "op.*.float32.*"),
    ("buffers.freed_before_last_use", "wrong buffer", "op.*norm*.*"),
    ("codegen.tail_not_stored", "wrong tail", "offsets.*"),
    ("codegen.tail_one_lane_short", "wrong tail", "offsets.*"),
    ("parallel.last_piece_lost", "wrong tail", "copying.*"),
    ("queue.wait_ignored", "missed dependency", "order.*"),
    ("allocator.other_queues_forgotten", "missed dependency", "order.*"),
]

INTRODUCTION = """# Faults of compiler, cache and queues that the suite finds

Written by `ci/emulator_faults.py`. A test build of the emulator has these faults, where a backend without a
compiler can have none; [the others](faults.md) are made by the suite's own backend. Beside each is a case
that failed because of it and passes without it, and the level that it is of."""


def switch_on(name: str) -> None:
    """In this process: the emulator looks at the environment each time."""
    os.environ["TPU_SEEDED_FAULT"] = name


def emulator() -> kill.Subject:
    """The emulated TPU of the test build."""
    return kill.Subject(
        read_adapter(ROOT / "conformance" / "adapters" / "tpu.toml", None, []),
        [kill.Fault(*row) for row in FAULTS],
        switch_on,
        ROOT / "docs" / "compiler_faults.md",
        INTRODUCTION,
    )


if __name__ == "__main__":
    sys.exit(kill.main(emulator()))

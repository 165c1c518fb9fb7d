"""A progress bar with an estimate on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TextIO

from .execute import BAD


class Progress:
    """`total` groups; the estimate assumes that the rest goes on as the last ones did."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()
        self.begin = self.last = time.monotonic()

    def update(self, done: int, counts: Counter[str], force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self.last < (0.2 if self.live else 30.0):
            return
        self.last = now
        elapsed = now - self.begin
        rest = f"{_clock(elapsed / done * (self.total - done))} left" if done > 20 else "estimating"
        bad = sum(counts[status] for status in BAD)
        text = f"{done}/{self.total} groups, {sum(counts.values())} cases, {bad} bad, {_clock(elapsed)}, {rest}"
        if self.live:
            filled = 30 * done // max(1, self.total)
            self.stream.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {text}\x1b[K")
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def close(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"

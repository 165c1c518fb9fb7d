"""A process that runs groups of cases for the scheduler, and may crash or hang doing so.

Requests and answers are lines of JSON. The answers go to a descriptor of their own: whatever a
vendor's library prints must not get between them.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any, TextIO

import torch

from .adapter import Adapter, AdapterError, Mode, from_table
from .case import Level
from .execute import Watch, run_group
from .oracle.defects import defect_of
from .provenance import Provenance
from .sources.catalogue import find_group


class Answers:
    """The scheduler's end of the conversation."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def send(self, kind: str, value: Any) -> None:
        self.stream.write(json.dumps({kind: value}) + "\n")
        self.stream.flush()


def private_stdout() -> TextIO:
    """The original standard output; prints of others go to standard error from now on."""
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stream


def serve(requests: TextIO, answers: Answers) -> None:
    setup = json.loads(requests.readline())
    adapter: Adapter = from_table(setup["adapter"], setup["source"])
    try:
        device = adapter.load()
    except AdapterError as error:
        answers.send("refused", str(error))
        return
    torch.set_num_threads(int(setup.get("threads", 1)))
    modes = [mode for mode in adapter.modes if mode.name in setup["modes"]]
    answers.send("ready", True)
    for line in requests:
        request = json.loads(line)
        run(request, adapter, device, modes, Level[setup["level"]], answers)


def run(
    request: dict[str, Any], adapter: Adapter, device: torch.device, modes: list[Mode], level: Level, answers: Answers
) -> None:
    """One group: its name, cases to leave out, or the only ones to run."""
    group = find_group(request["group"], level, adapter.float32_matmul)
    skipped, only = set(request.get("skip", [])), request.get("only")

    def wanted(name: str) -> bool:
        return name not in skipped and (only is None or name in only) and defect_of(name) is None

    watch = Watch(lambda name: answers.send("begin", name), wanted, Provenance(adapter))
    try:
        for outcome in run_group(group, adapter, device, level, modes, watch):
            answers.send("outcome", outcome.line())
        answers.send("reached", sorted(watch.reached))
        answers.send("inputs", [group.name, watch.inputs])
    except Exception as error:  # a source that can't make its cases is the suite's fault: say so
        answers.send("broken", f"{group.name}: {type(error).__name__}: {error}")
    answers.send("end", group.name)


def main() -> int:
    warnings.simplefilter("ignore")
    serve(sys.stdin, Answers(private_stdout()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

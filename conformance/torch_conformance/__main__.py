"""python -m torch_conformance run --device NAME"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

from .model_cases import model_cases
from .outcome import Check, Outcome, Status
from .report import summary, table_row, write_json, write_page

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run_case(name: str, device: str, modules: list[str]) -> Outcome:
    """In this process."""
    for module in modules:
        importlib.import_module(module)
    sys.path.insert(0, str(EXAMPLES))
    begin = time.monotonic()
    checks = model_cases()[name](device)
    status = Status.PASS if all(check.passed for check in checks) else Status.FAIL
    return Outcome(name, status, time.monotonic() - begin, checks)


def run_in_worker(name: str, device: str, modules: list[str], timeout: float) -> Outcome:
    """In a process of its own: a crash or a hang costs one case, not the run."""
    command = [sys.executable, "-m", "torch_conformance", "case", name, "--device", device]
    command += [f"--import={module}" for module in modules]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return Outcome(name, Status.TIMEOUT, timeout, message=f"no answer after {timeout:.0f} s")
    seconds = time.monotonic() - begin
    line = next((text for text in done.stdout.splitlines() if text.startswith('{"case"')), None)
    if line is None:
        died = done.returncode < 0
        return Outcome(name, Status.CRASH if died else Status.FAIL, seconds, message=done.stderr[-3000:])
    row = json.loads(line)
    checks = [Check(c["name"], float(c["margin"]), c["note"]) for c in row["checks"]]
    return Outcome(name, Status(row["status"]), seconds, checks)


def command_case(args: argparse.Namespace) -> int:
    outcome = run_case(args.name, args.device, args.modules)
    checks = [{"name": c.name, "margin": str(c.margin), "note": c.note} for c in outcome.checks]
    print(json.dumps({"case": outcome.case, "status": outcome.status, "checks": checks}))
    return 0


def command_run(args: argparse.Namespace) -> int:
    names = [name for name in model_cases() if fnmatch.fnmatch(name, args.select)]
    if not names:
        print(f"no case matches {args.select!r}; `list` prints all", file=sys.stderr)
        return 2
    args.output.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for number, name in enumerate(names, 1):
        if sys.stdout.isatty():
            print(f"\r[{number}/{len(names)}] {name:70}", end="", flush=True)
        outcomes.append(run_in_worker(name, args.device, args.modules, args.timeout))
        print(("\r" if sys.stdout.isatty() else "") + table_row(outcomes[-1]), flush=True)
        if outcomes[-1].message:
            print("    " + outcomes[-1].message.strip().splitlines()[-1])
    write_json(outcomes, args.device, args.output)
    write_page(outcomes, args.device, args.output)
    counts = summary(outcomes)
    print(f"\nreport: {args.output / 'report.html'}")
    print(f"{counts['passed']} passed, {len(outcomes) - counts['passed']} failed")
    return 0 if counts["passed"] == len(outcomes) else 1


def command_list(_args: argparse.Namespace) -> int:
    print("\n".join(model_cases()))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="torch_conformance", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def add(name: str, handler: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        command = commands.add_parser(name)
        command.set_defaults(handler=handler)
        if name != "list":
            command.add_argument("--device", required=True)
            command.add_argument("--import", dest="modules", action="append", default=[], metavar="MODULE")
        return command

    run = add("run", command_run)
    run.add_argument("--select", default="*", help="pattern over case names")
    run.add_argument("--output", type=pathlib.Path, default=pathlib.Path("conformance-results"))
    run.add_argument("--timeout", type=float, default=1500, help="seconds a case may take")
    add("case", command_case).add_argument("name")
    add("list", command_list)
    args = parser.parse_args()
    return args.handler(args)


if __name__ == "__main__":
    sys.exit(main())

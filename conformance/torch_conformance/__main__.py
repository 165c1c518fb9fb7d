"""torch-conformance: does a device compute what PyTorch says it computes?

torch-conformance run --device NAME [--import MODULE] [--adapter FILE]
torch-conformance list [--cases PATTERN] [--features]
torch-conformance pack FOLDER ARCHIVE.zip
torch-conformance verify ARCHIVE.zip
torch-conformance compare BEFORE AFTER
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sys
from typing import Any

from . import archive, manifest
from .adapter import Adapter, AdapterError, Mode, read_adapter
from .case import Level
from .execute import Outcome
from .report.junit import write_junit
from .report.page import write_page
from .report.table import area_table, closing_lines, failures
from .run import Options, Run, RunError
from .waivers import Waiver, WaiverError, read_waivers


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"'{text}' is no shard such as 2/5")
    return int(index), int(count)


def _table(adapter: Adapter) -> dict[str, Any]:
    """The adapter as TOML would hold it, for worker processes and archives."""
    claims: dict[str, Any] = {"operators": list(adapter.claims.operators), "except": list(adapter.claims.exceptions)}
    if adapter.claims.dtypes is not None:
        claims["dtypes"] = list(adapter.claims.dtypes)
    if adapter.claims.layouts is not None:
        claims["layouts"] = list(adapter.claims.layouts)
    if adapter.claims.features is not None:
        claims["features"] = list(adapter.claims.features)
    modes = {mode.name: {"environment": mode.environment, "context": mode.context} for mode in adapter.modes}
    return {
        "device": adapter.device,
        "import": list(adapter.imports),
        "float32_matmul": adapter.float32_matmul,
        "flushes_subnormals": adapter.flushes_subnormals,
        "provenance": adapter.provenance,
        "memory": adapter.memory,
        "claims": claims,
        "modes": modes,
        "equal_bits": {"modes": [list(group) for group in adapter.equal_bits]},
    }


def _with_modes(adapter: Adapter, wanted: list[str]) -> Adapter:
    """Only the named modes."""
    if not wanted:
        return adapter
    known = {mode.name: mode for mode in adapter.modes}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise RunError(f"no mode is called '{unknown[0]}'; the adapter has {', '.join(known)}")
    modes: tuple[Mode, ...] = tuple(known[name] for name in wanted)
    equal = tuple(tuple(n for n in group if n in wanted) for group in adapter.equal_bits)
    return dataclasses.replace(adapter, modes=modes, equal_bits=tuple(g for g in equal if len(g) > 1))


def command_run(args: argparse.Namespace) -> int:
    adapter = _with_modes(read_adapter(args.adapter, args.device, args.modules), args.mode)
    waivers: list[Waiver] = [waiver for path in args.waivers for waiver in read_waivers(path)]
    arguments = [f"--device={args.device}"] if args.device else []
    arguments += [f"--import={module}" for module in args.modules]
    arguments += [f"--adapter={args.adapter}"] if args.adapter else []
    run = Run(
        Options(
            adapter,
            _table(adapter),
            Level[args.level.upper()],
            args.select,
            args.shard,
            args.workers,
            args.timeout,
            args.output,
            args.resume,
            waivers,
            arguments,
        )
    )
    summary = run.execute()
    _write(run, summary, args.output)
    print("\n".join(area_table(run.outcomes)) + "\n")
    for line in [*failures(run.outcomes), *(f"broken: {text}" for text in run.broken), *_strays(run, summary)]:
        print(line)
    if args.write_manifest:
        manifest.write_manifest(run.outcomes, run.inputs, manifest.manifest_path(summary["level"]))
    print(f"report: {args.output / 'report.html'}")
    print("\n".join(closing_lines(summary)))
    return 1 if run.broken or any(outcome.bad for outcome in run.outcomes) else 0


def _write(run: Run, summary: dict[str, Any], folder: pathlib.Path) -> None:
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    (folder / "reached.json").write_text(json.dumps(sorted(run.reached), indent=0) + "\n")
    (folder / "inputs.json").write_text(json.dumps(run.inputs, indent=0, sort_keys=True) + "\n")
    write_junit(run.outcomes, folder / "junit.xml")
    write_page(run.outcomes, summary, run.reached, folder / "report.html")


def _strays(run: Run, summary: dict[str, Any]) -> list[str]:
    """Where a complete run had other cases than the frozen list."""
    if run.options.select != "*" or run.options.shard != (1, 1):
        return []
    frozen = manifest.read_manifest(summary["level"])
    if frozen is None:
        return []
    lines = manifest.deviations((outcome.name for outcome in run.outcomes), run.inputs, frozen)
    return [f"manifest: {line}" for line in lines[:10]]


def command_list(args: argparse.Namespace) -> int:
    from .sources.catalogue import find_group, group_names
    from .sources.own_cases import features

    level = Level[args.level.upper()]
    if args.features:
        print("\n".join(features()))
        return 0
    import fnmatch

    names = group_names(level)
    if args.cases is None:
        print("\n".join(names))
        return 0
    for group in names:
        if fnmatch.fnmatchcase(group, args.cases):
            print("\n".join(case.name for case in find_group(group, level, "float32").make(level)))
    return 0


def command_pack(args: argparse.Namespace) -> int:
    archive.pack(args.folder, args.archive)
    print(f"{args.archive}: {args.archive.stat().st_size / 1024:.0f} KiB")
    return 0


def command_verify(args: argparse.Namespace) -> int:
    problems = archive.verify(args.archive)
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{args.archive} is complete and as it was packed")
    return 1 if problems else 0


def command_compare(args: argparse.Namespace) -> int:
    before: list[Outcome] = archive.read(args.before)[1]
    after: list[Outcome] = archive.read(args.after)[1]
    lines = archive.compare(before, after)
    print("\n".join(lines) if lines else "no case changed its status")
    return 1 if any(line.startswith(("worse:", "lost:")) for line in lines) else 0


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="torch-conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run the suite on a device")
    run.set_defaults(handler=command_run)
    run.add_argument("--device", help="name of the device, as in torch.device")
    run.add_argument(
        "--import", dest="modules", action="append", default=[], metavar="MODULE", help="makes the device known"
    )
    run.add_argument("--adapter", type=pathlib.Path, metavar="FILE", help="what the device claims: see docs/vendors.md")
    run.add_argument("--level", choices=("quick", "full", "exhaustive"), default="quick")
    run.add_argument("--select", default="*", metavar="PATTERN", help="over case names")
    run.add_argument("--mode", action="append", default=[], help="only this of the adapter's modes")
    run.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help="the I-th of N parts")
    run.add_argument("--workers", type=int, default=min(8, os.cpu_count() or 1), metavar="N")
    run.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="for one case")
    run.add_argument("--waivers", type=pathlib.Path, action="append", default=[], metavar="FILE")
    run.add_argument("--output", type=pathlib.Path, default=pathlib.Path("conformance-results"), metavar="FOLDER")
    run.add_argument("--resume", action="store_true", help="go on with the run in --output")
    run.add_argument("--write-manifest", action="store_true", help=argparse.SUPPRESS)
    listing = commands.add_parser("list", help="names of groups, cases, features")
    listing.set_defaults(handler=command_list)
    listing.add_argument("--level", choices=("quick", "full", "exhaustive"), default="full")
    listing.add_argument("--cases", metavar="PATTERN", help="cases of the groups that match")
    listing.add_argument("--features", action="store_true")
    pack = commands.add_parser("pack", help="make an archive of a run")
    pack.set_defaults(handler=command_pack)
    pack.add_argument("folder", type=pathlib.Path)
    pack.add_argument("archive", type=pathlib.Path)
    verify = commands.add_parser("verify", help="check an archive")
    verify.set_defaults(handler=command_verify)
    verify.add_argument("archive", type=pathlib.Path)
    compare = commands.add_parser("compare", help="what changed between two runs")
    compare.set_defaults(handler=command_compare)
    compare.add_argument("before", type=pathlib.Path)
    compare.add_argument("after", type=pathlib.Path)
    return root


def main() -> int:
    args = parser().parse_args()
    try:
        return int(args.handler(args))
    except (AdapterError, RunError, WaiverError, archive.ArchiveError) as error:
        print(f"torch-conformance: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ntorch-conformance: interrupted; --resume goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

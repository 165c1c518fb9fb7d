"""Whole models: the examples of the repository, where they are there."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from collections.abc import Iterable, Iterator

from ..case import Case, Group, Level, part
from ..trial import CheckError, Trial

_REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = _REPOSITORY / "examples"
QUICK = ("model.digits_cnn.float32.default.gradients", "model.llama_block.float32.highest.gradients")


def groups(level: Level, float32_matmul: str = "float32") -> Iterator[Group]:
    """One for each model; none where the examples or what they import are absent."""
    if not (EXAMPLES / "digits_cnn.py").exists() or importlib.util.find_spec("sklearn") is None:
        return
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    from ..model_cases import model_cases

    names: dict[tuple[str, str], list[str]] = {}
    for name in model_cases():
        if level is Level.QUICK and name not in QUICK:
            continue
        _, model, dtype, _ = name.split(".", 3)
        names.setdefault((model, dtype), []).append(name)
    for (model, dtype), cases in names.items():
        yield _group(model, dtype, cases)


def _group(model: str, dtype: str, names: list[str]) -> Group:
    from ..model_cases import model_cases

    def make(_level: Level) -> Iterable[Case]:
        for name in names:
            *_, precision, aspect = name.split(".")

            def run(t: Trial, name: str = name) -> None:
                t.informative = True
                for check in model_cases()[name](str(t.device)):
                    t.margin = max(t.margin, check.margin)
                    if not check.passed:
                        raise CheckError("value", f"{check.name}: {check.note} (margin {check.margin:.3g})")

            yield Case(group.case_name(part(precision), aspect, 0), run)

    group = Group("model", model, dtype, make, constant="asserts values")
    return group

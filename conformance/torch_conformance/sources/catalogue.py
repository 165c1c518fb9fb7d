"""All groups of the suite, by name."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ..case import Group, Level
from . import own_cases


def all_groups(level: Level, float32_matmul: str) -> Iterator[Group]:
    """In a fixed order: own families first, as they are quick and tell most."""
    from . import (
        foreach_database,
        models,
        module_database,
        op_database,
        optimizer_database,
        overload_calls,
        random_programs,
    )

    yield from own_cases.groups(level)
    yield from random_programs.groups(level, float32_matmul)
    yield from op_database.groups(level, float32_matmul)
    yield from overload_calls.groups(level, float32_matmul)
    yield from module_database.groups(level, float32_matmul)
    yield from foreach_database.groups(level, float32_matmul)
    yield from optimizer_database.groups(level, float32_matmul)
    yield from models.groups(level, float32_matmul)


@functools.cache
def _by_name(level: Level, float32_matmul: str) -> dict[str, Group]:
    return {group.name: group for group in all_groups(level, float32_matmul)}


def find_group(name: str, level: Level, float32_matmul: str) -> Group:
    """Raises `KeyError` for a name that no group has."""
    return _by_name(level, float32_matmul)[name]


def group_names(level: Level, float32_matmul: str = "float32") -> list[str]:
    return list(_by_name(level, float32_matmul))

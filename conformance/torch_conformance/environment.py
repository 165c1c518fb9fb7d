"""What a run ran on: for the archive, and for people who compare two of them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Any

import torch

from .adapter import Adapter


def environment(adapter: Adapter) -> dict[str, Any]:
    """Versions and machine. Nothing personal: no paths, no names."""
    return {
        "suite": version(),
        "torch": torch.__version__,
        "torch_git": torch.version.git_version,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "modules": {name: _version_of(name) for name in adapter.imports},
        "byteorder": sys.byteorder,
    }


def version() -> str:
    """The suite's version."""
    return "0.1.0"


def _version_of(module: str) -> str:
    loaded = sys.modules.get(module.split(".", maxsplit=1)[0])
    stated = getattr(loaded, "__version__", None)
    if stated is not None:
        return str(stated)
    try:
        return importlib.metadata.version(module.split(".", maxsplit=1)[0])
    except importlib.metadata.PackageNotFoundError:
        return "unknown"

"""Files that users write."""

from __future__ import annotations

import pathlib
import tomllib
from typing import Any


def read_toml(path: pathlib.Path, what: str, error_type: type[Exception]) -> dict[str, Any]:
    """Raises `error_type` with one line for the user, in which `what` says what the file should be."""
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise error_type(f"{what} {path} can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise error_type(f"{what} {path} is no TOML: {error}") from error

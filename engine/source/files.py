"""Files: those that travel with the program, and a note of those that a config is read from.

What travels stands at the top level of the repository; in an installed wheel, under
`engine/shipped/`.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

HOME = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
"""The folder that holds gateway.yaml, openapi/ and schemas/."""

CONFIG = HOME / "gateway.yaml"
SCHEMA = HOME / "schemas" / "gateway.schema.json"
DOCUMENTS = HOME / "openapi"

_noted: ContextVar[dict[Path, str] | None] = ContextVar("noted", default=None)


@contextmanager
def record_reads() -> Iterator[dict[Path, str]]:
    """All files that `read_text` is asked for within: the SHA-256 of each by its path, "" for one
    that could not be read."""
    noted: dict[Path, str] = {}
    before = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(before)


def is_file(path: Path) -> bool:
    """Whether a file is there. One that we may not look at counts as there: reading it says why."""
    try:
        return path.is_file()
    except PermissionError:
        return True
    except (OSError, ValueError):  # nothing can have that name
        return False


def names_in(folder: Path) -> list[str]:
    """The names of what is in a folder; none where that cannot be seen."""
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file, its line ends as LF. Raises OSError and UnicodeDecodeError."""
    noted = _noted.get()
    if noted is not None:
        noted[path.absolute()] = ""
    try:
        data = path.read_bytes()
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from error
    if noted is not None:
        noted[path.absolute()] = hashlib.sha256(data).hexdigest()
    return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")

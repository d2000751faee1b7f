"""Files shipped with the program, and a record of the files that a config is read from.

Shipped files are at the top level of the repository; in an installed wheel, under
`engine/shipped/`.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

HOME = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
"""The folder that holds gateway.yaml, openapi/ and schemas/."""

CONFIG = HOME / "gateway.yaml"
SCHEMA = HOME / "schemas" / "gateway.schema.json"
DOCUMENTS = HOME / "openapi"
PROVIDERS = _PACKAGE / "providers"
AGENTS = _PACKAGE / "agents"

_records: ContextVar[dict[Path, str] | None] = ContextVar("records", default=None)


@contextmanager
def record_reads() -> Iterator[dict[Path, str]]:
    """Record the files that are read here in a `with` block: the SHA-256 of each by its path,
    "" for a file that cannot be read."""
    record: dict[Path, str] = {}
    before = _records.set(record)
    try:
        yield record
    finally:
        _records.reset(before)


def add_reads(files: Mapping[Path, str]) -> None:
    """Record files that a child process has read."""
    record = _records.get()
    if record is not None:
        record.update(files)


def is_file(path: Path) -> bool:
    """Whether a file exists. True without permission to know: reading the file reports that."""
    try:
        return path.is_file()
    except PermissionError:
        return True
    except (OSError, ValueError):  # no file can have that name
        return False


def names_in(folder: Path) -> list[str]:
    """The names in a folder; none if it cannot be read."""
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file, its line ends as LF. Raises OSError and UnicodeDecodeError."""
    data = read_bytes(path)
    return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path, limit: int = -1) -> bytes:
    """The bytes of a file, or the first `limit` of them. Raises OSError."""
    record = _records.get()
    if record is not None:
        record[path.absolute()] = ""
    try:
        with path.open("rb") as file:
            data = file.read(limit)
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from error
    if record is not None:
        record[path.absolute()] = hashlib.sha256(data).hexdigest()
    return data

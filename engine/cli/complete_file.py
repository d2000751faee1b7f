"""A file that is complete, or not there: written beside its place, and moved there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click


@contextmanager
def complete_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces that of the path at the end of the `with` block. A failure
    to write is a ClickException, and the file stays as it was."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}-")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _umask() -> int:
    """The mask of new files: a temporary file is readable by its owner only."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

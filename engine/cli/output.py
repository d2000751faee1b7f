"""The output of commands: whether it goes to a terminal, the option `--format` of those that print
data with `--json`, its short form, and files that are complete or not there."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO

import click

_HELP = "text for people, json for programs."


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal."""
    return stream is not None and stream.isatty()


def has_colour(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colour, and NO_COLOR is unset (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def format_option(
    formats: Sequence[str] = ("text", "json"),
    help: str = _HELP,  # noqa: A002 - click's word
) -> Callable[..., Any]:
    """The options `--format`, one of `formats` with the first as default, and `--json`. The command
    gets `output_format`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_format(
            *arguments: Any, output_format: str | None, as_json: bool, **more: Any
        ) -> Any:
            if as_json and output_format not in (None, "json"):
                raise click.UsageError("--json is short for --format json: leave out one of them")
            chosen = "json" if as_json else output_format or formats[0]
            return function(*arguments, output_format=chosen, **more)

        as_json = click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
        chosen_format = click.option(
            "--format",
            "output_format",
            type=click.Choice(formats),
            help=f"{help}  [default: {formats[0]}]",
        )
        return chosen_format(as_json(with_format))

    return decorate


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

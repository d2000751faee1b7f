"""The option `--format` of the commands that print data, and `--json`, its short form."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import click

_HELP = "text for people, json for programs."


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

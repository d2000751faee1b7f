"""`modelway token export`: all tokens as JSON lines."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
import orjson

from engine.cli.token.place import place_of, place_options, records
from engine.stores.records import tokens


@click.command("export")
@place_options
def command(config: Path, database: str | None) -> None:
    """Print all tokens, one JSON object a line, for `modelway token import` elsewhere.

    Digests only: no secret is kept, so none can be exported. Times are Unix seconds; what is not
    said sets no bound.
    """
    with records(place_of(config, database)) as opened:
        for token in tokens.every(opened):
            said = {key: value for key, value in asdict(token).items() if value not in (None, "")}
            click.echo(orjson.dumps(said).decode())

"""`modelway token export`: print all tokens, one JSON object a line."""

from __future__ import annotations

import click
import orjson
from msgspec.structs import asdict

from engine.cli.database import database_at, database_options, location_of
from engine.config.config_files import ConfigFiles
from engine.stores.database import tokens


@click.command()
@database_options
def command(config: ConfigFiles, database_url: str | None) -> None:
    """Print all tokens, one JSON object a line, for `modelway token import`.

    Digests only: secrets are not stored, so they cannot be exported. Times are Unix seconds; a
    field that is absent sets no limit.
    """
    with database_at(location_of(config, database_url)) as database:
        for token in tokens.get_all(database):
            row = {key: value for key, value in asdict(token).items() if value not in (None, "")}
            click.echo(orjson.dumps(row).decode())

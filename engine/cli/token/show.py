"""`modelway token show`: show one token."""

from __future__ import annotations

import time

import click
import orjson

from engine.cli.database import database_at, database_options, location_of
from engine.cli.output import format_option
from engine.cli.token.views import cell, fields_of
from engine.config.config_files import ConfigFiles
from engine.stores.database import tokens

_DEFAULTS = {"models": "all", "operations": "all", "ips": "all", "expires": "never"}


@click.command()
@click.argument("name")
@format_option()
@database_options
def command(config: ConfigFiles, database_url: str | None, name: str, output_format: str) -> None:
    """Show one token: what it may be used for, its limits, and its state.

    Its secret cannot be shown: only the SHA-256 of it is stored.
    """
    with database_at(location_of(config, database_url)) as database:
        token = tokens.get(database, name)
    values = fields_of(token, time.time())
    if output_format == "json":
        click.echo(orjson.dumps(values, option=orjson.OPT_INDENT_2).decode())
        return
    for key, value in values.items():
        text = _DEFAULTS.get(key, "-") if value is None else cell(value) or "none"
        if value != "":
            click.echo(f"{key.replace('_', ' '):17} {text}")

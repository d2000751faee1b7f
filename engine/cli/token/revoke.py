"""`modelway token revoke`: make a token invalid."""

from __future__ import annotations

import time

import click

from engine.cli.database import database_at, database_options, location_of
from engine.cli.token.views import iso_time
from engine.config.config_files import ConfigFiles
from engine.stores.database import tokens


@click.command()
@click.argument("name")
@database_options
def command(config: ConfigFiles, database_url: str | None, name: str) -> None:
    """Make a token invalid, with all its secrets; this cannot be undone.

    A running gateway refuses it within `token_ttl`, and ends its open streams. The token stays in
    the list, and its usage in the ledger.
    """
    location = location_of(config, database_url)
    with database_at(location) as database:
        before = tokens.revoke(database, name, time.time())
    if before.revoked is not None:
        click.echo(f"token '{name}' was already revoked at {iso_time(before.revoked)}.", err=True)
    else:
        delay = f"running gateways refuse it within {location.ttl:g} s"
        click.echo(f"token '{name}' is revoked; {delay}.", err=True)

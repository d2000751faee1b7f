"""`modelway token revoke`: a token that is refused from now on."""

from __future__ import annotations

import time
from pathlib import Path

import click

from engine.cli.token.place import place_of, place_options, records
from engine.cli.token.words import when
from engine.stores.records import tokens


@click.command("revoke")
@click.argument("name")
@place_options
def command(config: Path, database: str | None, name: str) -> None:
    """Refuse a token from now on, with all its secrets; this cannot be undone.

    A running gateway refuses it within `token_ttl`. The token stays on the list, and its usage in
    the ledger.
    """
    place = place_of(config, database)
    with records(place) as opened:
        before = tokens.revoke(opened, name, time.time())
    if before.revoked is not None:
        click.echo(f"token '{name}' was revoked already, at {when(before.revoked)}.", err=True)
    else:
        within = f"running gateways refuse it within {place.ttl:g} s"
        click.echo(f"token '{name}' is revoked; {within}.", err=True)

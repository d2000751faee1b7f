"""`modelway token show`: all there is about one token."""

from __future__ import annotations

import time
from pathlib import Path

import click

from engine.cli.token.place import place_of, place_options, records
from engine.cli.token.words import cell, shown
from engine.stores.records import tokens

_UNBOUND = {"models": "all", "operations": "all", "ips": "all", "expires": "never"}


@click.command("show")
@click.argument("name")
@place_options
def command(config: Path, database: str | None, name: str) -> None:
    """Show one token: what it may be used for, how much, and how it stands.

    Its secret cannot be shown: only the SHA-256 of it is kept.
    """
    with records(place_of(config, database)) as opened:
        token = tokens.named(opened, name)
    for key, value in shown(token, time.time()).items():
        text = _UNBOUND.get(key, "-") if value is None else cell(value) or "none"
        if value != "":
            click.echo(f"{key.replace('_', ' '):17} {text}")

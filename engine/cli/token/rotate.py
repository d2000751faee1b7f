"""`modelway token rotate`: another secret for a token."""

from __future__ import annotations

import time
from pathlib import Path

import click

from engine.cli.token import values
from engine.cli.token.place import place_of, place_options, records
from engine.cli.token.values import checked
from engine.cli.token.words import when
from engine.stores.records import tokens
from engine.tokens import digest, new_secret


@click.command("rotate")
@click.argument("name")
@click.option(
    "--grace", default="24h", show_default=True, callback=checked(values.duration),
    help="How long the old secret is still accepted; 0s ends it now.",
)  # fmt: skip
@place_options
def command(config: Path, database: str | None, name: str, grace: float) -> None:
    """Give a token another secret and print it, this once: nothing else goes to stdout.

    The old secret works until the grace time is over. One that is older still, from a rotation
    before, ends at once.
    """
    now = time.time()
    place = place_of(config, database)
    secret = new_secret()
    with records(place) as opened:
        before = tokens.rotate(opened, name, digest(secret), now + grace if grace else None, now)
    click.echo(secret)
    until = f"works until {when(now + grace)}" if grace else f"ends within {place.ttl:g} s"
    click.echo(f"token '{name}' has a new secret, shown this once; the old one {until}.", err=True)
    if before.previous_until is not None and before.previous_until > now:
        click.echo("the one before that, in its grace time still, has ended with this.", err=True)

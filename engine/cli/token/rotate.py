"""`modelway token rotate`: give a token a new secret."""

from __future__ import annotations

import time

import click

from engine.cli.database import database_at, database_options, location_of
from engine.cli.output import format_option
from engine.cli.token import fields
from engine.cli.token.fields import option_callback
from engine.cli.token.views import iso_time, print_secret
from engine.config.config_files import ConfigFiles
from engine.stores.database import tokens
from engine.values.caller import digest, new_secret


@click.command()
@click.argument("name")
@click.option(
    "--grace", default="24h", show_default=True, callback=option_callback(fields.duration),
    help="How long the old secret stays valid; 0s ends it at once.",
)  # fmt: skip
@format_option(help="text prints only the secret; json the name and the secret.")
@database_options
def command(
    config: ConfigFiles, database_url: str | None, name: str, grace: float, output_format: str
) -> None:
    """Give a token a new secret and print it, once: nothing else is written to stdout.

    The old secret stays valid until the end of the grace time. An older one, whose grace time has
    not ended yet, becomes invalid at once.
    """
    now = time.time()
    location = location_of(config, database_url)
    secret = new_secret()
    with database_at(location) as database:
        before = tokens.rotate(database, name, digest(secret), now + grace if grace else None, now)
    print_secret(name, secret, output_format)
    validity = (
        f"is valid until {iso_time(now + grace)}"
        if grace
        else f"becomes invalid within {location.ttl:g} s"
    )
    click.echo(
        f"token '{name}' has a new secret, shown only once; the old one {validity}.", err=True
    )
    if before.previous_until is not None and before.previous_until > now:
        click.echo("the secret before that, still in its grace time, is invalid now.", err=True)

"""`modelway token create`: create a token in the database."""

from __future__ import annotations

import time
from typing import Any

import click

from engine.cli.database import database_at, database_options, location_of
from engine.cli.output import format_option
from engine.cli.token import fields
from engine.cli.token.fields import option_callback
from engine.cli.token.views import print_secret
from engine.config.config_files import ConfigFiles
from engine.stores.database import tokens
from engine.stores.database.failures import Clash
from engine.stores.database.tokens import Token
from engine.values.caller import digest, new_secret


@click.command()
@click.option(
    "--name", required=True, callback=option_callback(fields.name), help="Its name, unique."
)
@click.option(
    "--models", multiple=True, callback=option_callback(fields.models, many=True),
    help="Models or wildcards that it may use, separated by commas or repeated. Default: all.",
)  # fmt: skip
@click.option(
    "--operations", multiple=True, callback=option_callback(fields.operations, many=True),
    help="Operations or wildcards that it may call, like 'openai.*'. Default: all.",
)  # fmt: skip
@click.option(
    "--ips", multiple=True, callback=option_callback(fields.ips, many=True),
    help="Addresses or networks from which it may be used, like 10.0.0.0/8. Default: all.",
)  # fmt: skip
@fields.limit_options(option_callback)
@click.option(
    "--note", default="", callback=option_callback(fields.note), help="A note for operators."
)
@format_option(help="text prints only the secret; json the name and the secret.")
@database_options
def command(
    config: ConfigFiles,
    database_url: str | None,
    budget: str | None,
    output_format: str,
    **values: Any,
) -> None:
    """Create a token and print its secret, once: nothing else is written to stdout.

    By default it has no limits and never expires.

    \b
    Into a file:  modelway token create --name shop --models 'gpt-4o*' > secret
    With limits:  modelway token create --name ci --expires 90d --rate 60/1m \\
                      --budget '20 USD/month' --concurrency 10
    """
    location = location_of(config, database_url)
    fields.check_budget(option_callback, budget, location.currency)
    if problem := location.name_problem(values["name"]):
        raise click.ClickException(f"{problem}: choose another name")
    secret = new_secret()
    token = Token(sha256=digest(secret), created=time.time(), budget=budget, **values)
    with database_at(location, create=True) as database:
        try:
            tokens.add(database, [token])
        except Clash as clash:
            raise click.ClickException(
                f"a token '{token.name}' already exists: choose another name, or give it a new "
                f"secret with `modelway token rotate {token.name}`"
            ) from clash
    print_secret(token.name, secret, output_format)
    click.echo(f"token '{token.name}' created; its secret is shown only once.", err=True)

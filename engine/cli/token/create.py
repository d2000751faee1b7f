"""`modelway token create`: a token in the database."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import click

from engine.cli.token import values
from engine.cli.token.place import Place, place_of, place_options, records
from engine.cli.token.values import checked
from engine.stores.records import tokens
from engine.stores.records.failures import Clash
from engine.stores.records.tokens import Token
from engine.tokens import digest, new_secret


def _expiry(text: str) -> float:
    return values.expiry(text, time.time())


@click.command("create")
@click.option("--name", required=True, callback=checked(values.name), help="Its name, unique.")
@click.option(
    "--models", multiple=True, callback=checked(values.models, many=True),
    help="Models or wildcards it may ask for, by commas or repeated. Default: all.",
)  # fmt: skip
@click.option(
    "--operations", multiple=True, callback=checked(values.operations, many=True),
    help="Operations or wildcards it may call, like 'openai.*'. Default: all.",
)  # fmt: skip
@click.option(
    "--ips", multiple=True, callback=checked(values.ips, many=True),
    help="Addresses or networks it may be used from, like 10.0.0.0/8. Default: all.",
)  # fmt: skip
@click.option(
    "--expires", callback=checked(_expiry),
    help="When it ends: 90d from now, or the last day, like 2027-01-31 (UTC). Default: never.",
)  # fmt: skip
@click.option("--rate", callback=checked(values.rate), help="Requests per time, like 60/1m.")
@click.option(
    "--token-budget", callback=checked(values.token_budget),
    help="Model tokens per time, like 1000000/1d.",
)  # fmt: skip
@click.option("--budget", help="Money per time, like '20 USD/30d'.")
@click.option(
    "--concurrency", callback=checked(values.concurrency), help="Requests at one time, like 10."
)
@click.option("--note", default="", callback=checked(values.note), help="Words for operators.")
@place_options
def command(config: Path, database: str | None, budget: str | None, **said: Any) -> None:
    """Make a token and print its secret, this once: nothing else goes to stdout.

    \b
    Into a file:  modelway token create --name shop --models 'gpt-4o*' > secret
    With bounds:  modelway token create --name ci --expires 90d --rate 60/1m \\
                      --budget '20 USD/30d' --concurrency 10
    """
    place = place_of(config, database)
    checked(partial(values.budget, currency=place.currency))(
        click.get_current_context(), _parameter("budget"), budget
    )
    refuse_configured(place, said["name"])
    secret = new_secret()
    token = Token(sha256=digest(secret), created=time.time(), budget=budget, **said)
    with records(place, make=True) as opened:
        try:
            tokens.add(opened, [token])
        except Clash as clash:
            raise click.ClickException(_taken(token.name)) from clash
    click.echo(secret)
    click.echo(f"token '{token.name}' made; its secret is shown this once.", err=True)


def refuse_configured(place: Place, name: str) -> None:
    """Names are unique among the tokens of the database and those of gateway.yaml."""
    if any(caller.name == name for caller in place.configured.values()):
        message = f"token '{name}' stands in gateway.yaml already: choose another name"
        raise click.ClickException(message)


def _taken(name: str) -> str:
    return (
        f"there is a token '{name}' already: choose another name, or give it a new secret with "
        f"`modelway token rotate {name}`"
    )


def _parameter(name: str) -> click.Parameter:
    return next(p for p in click.get_current_context().command.params if p.name == name)

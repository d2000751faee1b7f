"""`modelway token new`, `create`, `rotate` and `revoke`: commands that make or change a token."""

from __future__ import annotations

import json
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from engine.cli.token import values
from engine.cli.token.database import (
    Place,
    place_of,
    place_options,
    records,
)
from engine.cli.token.display import when
from engine.cli.token.values import checked
from engine.stores.records import tokens
from engine.stores.records.failures import Clash
from engine.stores.records.tokens import Token
from engine.values.caller import digest, new_secret


@click.command("new")
@click.argument("name")
@click.option(
    "--models", multiple=True, help="A model or wildcard it may ask for; may be repeated."
)
@click.option("--expires", help="Last day it is accepted, like 2027-01-31.")
def new(name: str, models: tuple[str, ...], expires: str | None) -> None:
    """Make a token for NAME: print its secret once, and the entry for gateway.yaml.

    The secret goes to the caller, the entry under `tokens:`. Lost secrets cannot be shown again.
    """
    if not name.strip():
        raise click.BadParameter("a token needs a name", param_hint="NAME")
    secret = new_secret()
    entry = [f"name: {json.dumps(name)}", f"sha256: {json.dumps(digest(secret))}"]
    if expires is not None:
        entry.append(f"expires: {json.dumps(_day(expires))}")
    if models:
        entry.append(f"models: {json.dumps(models)}")
    click.echo(f"secret, shown this once:\n\n  {secret}\n\nentry for `tokens:` in gateway.yaml:\n")
    click.echo(f"  - {{{', '.join(entry)}}}")


def _day(text: str) -> str:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError as error:
        message = f"'{text}' is no date like 2027-01-31"
        raise click.BadParameter(message, param_hint="--expires") from error


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
def create(config: Path, database: str | None, budget: str | None, **said: Any) -> None:
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


@click.command("rotate")
@click.argument("name")
@click.option(
    "--grace", default="24h", show_default=True, callback=checked(values.duration),
    help="How long the old secret is still accepted; 0s ends it now.",
)  # fmt: skip
@place_options
def rotate(config: Path, database: str | None, name: str, grace: float) -> None:
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


@click.command("revoke")
@click.argument("name")
@place_options
def revoke(config: Path, database: str | None, name: str) -> None:
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

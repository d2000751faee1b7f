"""`modelway token new`, `create`, `rotate` and `revoke`: the commands that change tokens."""

from __future__ import annotations

import json
import time
from datetime import datetime
from functools import partial
from typing import Any

import click

from engine.cli.database import RecordsLocation, database_options, open_records, records_of
from engine.cli.token import fields
from engine.cli.token.fields import option_callback
from engine.cli.token.views import iso_time
from engine.config.config_files import ConfigFiles
from engine.stores.records import tokens
from engine.stores.records.failures import Clash
from engine.stores.records.tokens import Token
from engine.values.caller import digest, new_secret


@click.command("new")
@click.argument("name")
@click.option(
    "--models", multiple=True, help="A model or wildcard that it may use; may be repeated."
)
@click.option("--team", callback=option_callback(fields.team), help="The team it belongs to.")
@click.option("--expires", help="Last day on which it is valid, like 2027-01-31.")
def new(name: str, models: tuple[str, ...], team: str | None, expires: str | None) -> None:
    """Create a token for NAME: print its secret once, and the entry for gateway.yaml.

    Give the secret to the caller and put the entry under `tokens:`. A lost secret cannot be shown
    again.
    """
    if not name.strip():
        raise click.BadParameter("a token needs a name", param_hint="NAME")
    secret = new_secret()
    entry = [f"name: {json.dumps(name)}", f"sha256: {json.dumps(digest(secret))}"]
    if team is not None:
        entry.append(f"team: {json.dumps(team)}")
    if expires is not None:
        entry.append(f"expires: {json.dumps(_day(expires))}")
    if models:
        entry.append(f"models: {json.dumps(models)}")
    click.echo(f"secret, shown only once:\n\n  {secret}\n\nentry for `tokens:` in gateway.yaml:\n")
    click.echo(f"  - {{{', '.join(entry)}}}")


def _day(text: str) -> str:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError as error:
        message = f"'{text}' is not a date like 2027-01-31"
        raise click.BadParameter(message, param_hint="--expires") from error


def _expiry(text: str) -> float:
    return fields.expiry(text, time.time())


@click.command("create")
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
@click.option(
    "--expires", callback=option_callback(_expiry),
    help="When it expires: in 90d, or after a day like 2027-01-31 (UTC). Default: never.",
)  # fmt: skip
@click.option(
    "--rate", callback=option_callback(fields.rate), help="Requests per time: 60/1m or 1000/day."
)
@click.option(
    "--token-budget", callback=option_callback(fields.token_budget),
    help="Model tokens per time, like 1000000/1d.",
)  # fmt: skip
@click.option("--budget", help="Money per time, like '20 USD/month'.")
@click.option(
    "--concurrency", callback=option_callback(fields.concurrency),
    help="Requests at the same time, like 10.",
)  # fmt: skip
@click.option("--team", callback=option_callback(fields.team), help="The team it belongs to.")
@click.option(
    "--priority", callback=option_callback(fields.priority),
    help="low, normal or high: the order in the queue of an upstream.",
)  # fmt: skip
@click.option(
    "--note", default="", callback=option_callback(fields.note), help="A note for operators."
)
@database_options
def create(config: ConfigFiles, database: str | None, budget: str | None, **values: Any) -> None:
    """Create a token and print its secret, once: nothing else is written to stdout.

    \b
    Into a file:  modelway token create --name shop --models 'gpt-4o*' > secret
    With limits:  modelway token create --name ci --expires 90d --rate 60/1m \\
                      --budget '20 USD/month' --concurrency 10
    """
    location = records_of(config, database)
    option_callback(partial(fields.budget, currency=location.currency))(
        click.get_current_context(), _parameter("budget"), budget
    )
    _check_unconfigured(location, values["name"])
    secret = new_secret()
    token = Token(sha256=digest(secret), created=time.time(), budget=budget, **values)
    with open_records(location, create=True) as records:
        try:
            tokens.add(records, [token])
        except Clash as clash:
            raise click.ClickException(
                f"a token '{token.name}' already exists: choose another name, or give it a new "
                f"secret with `modelway token rotate {token.name}`"
            ) from clash
    click.echo(secret)
    click.echo(f"token '{token.name}' created; its secret is shown only once.", err=True)


def _check_unconfigured(location: RecordsLocation, name: str) -> None:
    """Raises ClickException if gateway.yaml has a token of that name: names are unique among those
    of the database and of gateway.yaml."""
    if any(caller.name == name for caller in location.configured.values()):
        message = f"token '{name}' is already in gateway.yaml: choose another name"
        raise click.ClickException(message)


def _parameter(name: str) -> click.Parameter:
    return next(p for p in click.get_current_context().command.params if p.name == name)


@click.command("rotate")
@click.argument("name")
@click.option(
    "--grace", default="24h", show_default=True, callback=option_callback(fields.duration),
    help="How long the old secret stays valid; 0s ends it at once.",
)  # fmt: skip
@database_options
def rotate(config: ConfigFiles, database: str | None, name: str, grace: float) -> None:
    """Give a token a new secret and print it, once: nothing else is written to stdout.

    The old secret stays valid until the end of the grace time. An older one, whose grace time has
    not ended yet, becomes invalid at once.
    """
    now = time.time()
    location = records_of(config, database)
    secret = new_secret()
    with open_records(location) as records:
        before = tokens.rotate(records, name, digest(secret), now + grace if grace else None, now)
    click.echo(secret)
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


@click.command("revoke")
@click.argument("name")
@database_options
def revoke(config: ConfigFiles, database: str | None, name: str) -> None:
    """Make a token invalid, with all its secrets; this cannot be undone.

    A running gateway refuses it within `token_ttl`. The token stays in the list, and its usage in
    the ledger.
    """
    location = records_of(config, database)
    with open_records(location) as records:
        before = tokens.revoke(records, name, time.time())
    if before.revoked is not None:
        click.echo(f"token '{name}' was already revoked at {iso_time(before.revoked)}.", err=True)
    else:
        delay = f"running gateways refuse it within {location.ttl:g} s"
        click.echo(f"token '{name}' is revoked; {delay}.", err=True)

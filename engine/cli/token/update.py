"""`modelway token update`: change the limits, expiry, team, priority or note of a token."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from engine.cli.database import database_at, database_options, location_of
from engine.cli.output import format_option
from engine.cli.token import fields
from engine.cli.token.fields import option_callback
from engine.cli.token.views import iso_time
from engine.config.config_files import ConfigFiles
from engine.stores.database import tokens
from engine.stores.database.tokens import Token

NONE = "none"
"""The value of an option that removes a limit."""


def _or_none(check: Callable[[str], object]) -> Callable[..., Any]:
    """The callback of an option whose value passes `check`, or is NONE."""
    return option_callback(lambda text: text if text == NONE else check(text))


@click.command()
@click.argument("name")
@fields.limit_options(_or_none)
@click.option("--note", callback=option_callback(fields.note), help="A note for operators.")
@format_option()
@database_options
def command(
    config: ConfigFiles, database_url: str | None, name: str, output_format: str, **options: Any
) -> None:
    """Change a token: its limits, when it expires, its team, priority or note. `none` removes a
    limit.

    A changed budget keeps the amount counted in the current window, unless the window changes as
    well.

    \b
    More money this month:  modelway token update shop --budget '30 USD/month'
    No limit of requests:   modelway token update shop --rate none
    """
    changes = {field: value for field, value in options.items() if value is not None}
    if not changes:
        raise click.UsageError("nothing to change: give a limit, like --budget '30 USD/month'")
    location = location_of(config, database_url)
    fields.check_budget(_or_none, changes.get("budget"), location.currency)
    values = {field: None if value == NONE else value for field, value in changes.items()}
    with database_at(location) as database:
        before = tokens.change(database, name, values)
    if output_format == "json":
        click.echo(json.dumps({"name": name, "changes": _changes(values, before)}, indent=2))
        return
    for field, value in values.items():
        key = field.replace("_", " ")
        click.echo(f"{key} is {_text(field, value)}, was {_text(field, getattr(before, field))}")
    click.echo(f"running gateways use this within {location.ttl:g} s", err=True)


def _changes(values: Mapping[str, Any], before: Token) -> Mapping[str, Any]:
    """The new and the old value of each changed field, as `token show --json` has them."""
    return {
        field: {"is": _json(field, value), "was": _json(field, getattr(before, field))}
        for field, value in values.items()
    }


def _json(field: str, value: Any) -> Any:
    return iso_time(value) if field == "expires" else value


def _text(field: str, value: Any) -> str:
    if value is None or value == "":
        return NONE
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(iso_time(value) if field == "expires" else value)

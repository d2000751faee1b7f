"""`modelway token new`: create a token for gateway.yaml, without a database."""

from __future__ import annotations

import json
from datetime import datetime

import click

from engine.cli.output import format_option
from engine.cli.token import fields
from engine.cli.token.fields import option_callback
from engine.values.caller import digest, new_secret


@click.command()
@click.argument("name")
@click.option(
    "--models", multiple=True, help="A model or wildcard that it may use; may be repeated."
)
@click.option("--team", callback=option_callback(fields.team), help="The team it belongs to.")
@click.option("--expires", help="Last day on which it is valid, like 2027-01-31.")
@format_option()
def command(
    name: str, models: tuple[str, ...], team: str | None, expires: str | None, output_format: str
) -> None:
    """Create a token for NAME: print its secret once, and the entry for gateway.yaml.

    Give the secret to the caller and put the entry under `tokens:`. A lost secret cannot be shown
    again. With --json it is one object: `secret` and `entry`.
    """
    if not name.strip():
        raise click.BadParameter("a token needs a name", param_hint="NAME")
    secret = new_secret()
    entry: dict[str, str | tuple[str, ...]] = {"name": name, "sha256": digest(secret)}
    if team is not None:
        entry["team"] = team
    if expires is not None:
        entry["expires"] = _day(expires)
    if models:
        entry["models"] = models
    if output_format == "json":
        click.echo(json.dumps({"secret": secret, "entry": entry}, indent=2))
        return
    members = ", ".join(f"{key}: {json.dumps(value)}" for key, value in entry.items())
    click.echo(f"secret, shown only once:\n\n  {secret}\n\nentry for `tokens:` in gateway.yaml:\n")
    click.echo(f"  - {{{members}}}")


def _day(text: str) -> str:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError as error:
        message = f"'{text}' is not a date like 2027-01-31"
        raise click.BadParameter(message, param_hint="--expires") from error

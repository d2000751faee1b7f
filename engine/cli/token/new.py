"""`modelway token new`: a token for gateway.yaml, without any database."""

from __future__ import annotations

import json
from datetime import datetime

import click

from engine.tokens import digest, new_secret


@click.command("new")
@click.argument("name")
@click.option(
    "--models", multiple=True, help="A model or wildcard it may ask for; may be repeated."
)
@click.option("--expires", help="Last day it is accepted, like 2027-01-31.")
def command(name: str, models: tuple[str, ...], expires: str | None) -> None:
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

"""`modelway token`: tokens for callers."""

from __future__ import annotations

import re

import click

from engine.tokens import digest, new_secret

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@click.group()
def command() -> None:
    """Tokens that callers use: only their SHA-256 is ever kept."""


@command.command("new")
@click.argument("name")
@click.option(
    "--models", multiple=True, help="A model or wildcard it may ask for; may be repeated."
)
@click.option("--expires", help="Last day it is accepted, like 2027-01-31.")
def new(name: str, models: tuple[str, ...], expires: str | None) -> None:
    """Make a token for NAME: print its secret once, and the entry for gateway.yaml.

    The secret goes to the caller, the entry under `tokens:`. Lost secrets cannot be shown again.
    """
    secret = new_secret()
    entry = [f"name: {name if _PLAIN.fullmatch(name) else _quoted(name)}"]
    entry.append(f"sha256: {digest(secret)}")
    if expires:
        entry.append(f"expires: {_quoted(expires)}")
    if models:
        entry.append(f"models: [{', '.join(_quoted(model) for model in models)}]")
    click.echo(f"secret, shown this once:\n\n  {secret}\n\nentry for `tokens:` in gateway.yaml:\n")
    click.echo(f"  - {{{', '.join(entry)}}}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""`modelway ledger`: the rows of the ledger. One file here is one command of the group."""

from __future__ import annotations

import click

from engine.cli.ledger.ship import command as ship


@click.group()
def command() -> None:
    """Rows of the ledger that are not in the database yet.

    Running workers ship their rows within a second. What is here is for the journal of a machine
    that does not run any more.
    """


command.add_command(ship)

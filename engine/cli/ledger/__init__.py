"""`modelway ledger`: ship ledger rows that are not in the database yet.

Each file here is one of its commands.
"""

from __future__ import annotations

import click

from engine.cli.command_group import CommandGroup


@click.command(cls=CommandGroup, package=__name__)
def command() -> None:
    """Rows of the ledger that are not in the database yet.

    Running workers ship their rows within a second. Use this for the journal of a machine that no
    longer runs.
    """

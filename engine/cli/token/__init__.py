"""`modelway token`: create, list, change and revoke tokens for callers.

Each file here is one of its commands. `views` has the fields that they print, `fields` checks the
values of a token. Read `engine/cli/database.py` first: how they open the database.
"""

from __future__ import annotations

import click

from engine.cli.command_group import CommandGroup


@click.command(cls=CommandGroup, package=__name__)
def command() -> None:
    """Tokens for callers. Only the SHA-256 of a token's secret is stored.

    Tokens are stored in the database under `stores.records` of gateway.yaml (or given by
    --database); a running gateway reads changes within `token_ttl`, 10 s. `new` prints an entry
    for gateway.yaml instead, and needs no database.
    """

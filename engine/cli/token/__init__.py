"""`modelway token`: tokens for callers. One file here is one command of the group."""

from __future__ import annotations

import click

from engine.cli.token.create import command as create
from engine.cli.token.every import command as every
from engine.cli.token.export import command as export
from engine.cli.token.load import command as load
from engine.cli.token.new import command as new
from engine.cli.token.revoke import command as revoke
from engine.cli.token.rotate import command as rotate
from engine.cli.token.show import command as show


@click.group()
def command() -> None:
    """Tokens that callers use: only their SHA-256 is ever kept.

    They are kept in the database under `stores.records` of gateway.yaml (or given by --database);
    a running gateway takes changes in within `token_ttl`, 10 s. `new` makes an entry for
    gateway.yaml instead, and needs no database.
    """


for _one in (new, create, every, show, rotate, revoke, load, export):
    command.add_command(_one)

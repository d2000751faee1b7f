"""`modelway token`: tokens for callers.

`changes` makes and changes them, `views` prints them, `transfer` exports and imports them. Read
`database` first: how these commands open the records.
"""

from __future__ import annotations

import click

from engine.cli.token.changes import (
    create,
    new,
    revoke,
    rotate,
)
from engine.cli.token.transfer import export_tokens, import_tokens
from engine.cli.token.views import list_tokens, show


@click.group()
def command() -> None:
    """Tokens that callers use: only their SHA-256 is ever kept.

    They are kept in the database under `stores.records` of gateway.yaml (or given by --database);
    a running gateway reads changes within `token_ttl`, 10 s. `new` makes an entry for
    gateway.yaml instead, and needs no database.
    """


for _command in (new, create, list_tokens, show, rotate, revoke, import_tokens, export_tokens):
    command.add_command(_command)

"""`modelway token`: tokens for callers.

`changes` creates, rotates and revokes tokens, `update` changes their limits, `views` prints them,
`transfer` exports and imports them; `fields` checks the values of a token. Read
`engine/cli/database.py` first: how they open the database.
"""

from __future__ import annotations

import click

from engine.cli.token.changes import create, new, revoke, rotate
from engine.cli.token.transfer import export_tokens, import_tokens
from engine.cli.token.update import update
from engine.cli.token.views import list_tokens, show


@click.group()
def command() -> None:
    """Tokens for callers. Only the SHA-256 of a token's secret is stored.

    Tokens are stored in the database under `stores.records` of gateway.yaml (or given by
    --database); a running gateway reads changes within `token_ttl`, 10 s. `new` prints an entry
    for gateway.yaml instead, and needs no database.
    """


for _command in (
    *(new, create, list_tokens, show, update, rotate, revoke, import_tokens, export_tokens),
):
    command.add_command(_command)

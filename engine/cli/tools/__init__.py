"""`modelway tools`: list the tools of MCP servers, or pin those of others.

Each file here is one of its commands; without the name of one it is `show`.
"""

from __future__ import annotations

import click

from engine.cli.command_group import CommandGroup

_DEFAULT = "show"


class _ToolsGroup(CommandGroup):
    """`modelway tools NAME` is `modelway tools show NAME`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.files and args[0] not in ctx.help_option_names):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.command(cls=_ToolsGroup, package=__name__)
def command() -> None:
    """The tools of MCP servers: list them, show one, pin those of other servers.

    \b
    List all:     modelway tools
    Show one:     modelway tools create_order
    """

"""`modelway providers`: the known providers, and newer models and prices of them.

Each file here is one of its commands.
"""

from __future__ import annotations

import click

from engine.cli.command_group import CommandGroup


class _ProviderCommands(CommandGroup):
    """The commands; what is none of them is the name of a provider, or an option, for `show`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.files and args[0] not in ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.command(cls=_ProviderCommands, package=__name__)
def command() -> None:
    """The known providers, and newer models and prices of them.

    Without a command, `show`: `modelway providers` lists them, `modelway providers groq` shows one.
    """

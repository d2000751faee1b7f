"""`modelway completion`: print the script that completes commands in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, options and files in SHELL.

    \b
    mkdir -p ~/.local/share/bash-completion/completions
    modelway completion bash > ~/.local/share/bash-completion/completions/modelway
    modelway completion zsh > "${fpath[1]}/_modelway"
    modelway completion fish > ~/.config/fish/completions/modelway.fish
    """
    complete = get_completion_class(shell)
    assert complete is not None
    root = click.get_current_context().find_root().command
    click.echo(complete(root, {}, "modelway", "_MODELWAY_COMPLETE").source())

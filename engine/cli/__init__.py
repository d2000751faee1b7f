"""The command `modelway`. One file here is one command: a module that defines `command`."""

from __future__ import annotations

import errno
import importlib
import io
import os
import pkgutil
import sys
from importlib import metadata
from typing import Any

import click

from engine.values.runtime_dir import NoWritableFolder

_GROUND = frozenset({"show", "formats"})
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What happens to who writes, and is no fault of what is written."""


class _Commands(click.Group):
    """Finds commands by their files and imports only the one that runs."""

    def main(self, *arguments: Any, **more: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a name of a file may be in no encoding
                stream.reconfigure(errors="backslashreplace")
        try:
            try:
                return super().main(*arguments, **more)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except NoWritableFolder as error:
            click.echo(f"modelway: {error}", err=True)
            sys.exit(1)
        except OSError as error:
            if error.errno in _FULL:
                click.echo(f"modelway: it cannot be written: {error.strerror}", err=True)
            elif error.errno != errno.EPIPE:  # whoever read has enough
                raise
            # What is left in memory is flushed once more at the very end, and must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in _GROUND)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"{__name__}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(metadata.version("modelway"), prog_name="modelway")
def main() -> None:
    """A gateway for AI models in which no endpoint is code.

    OpenAPI documents say what callers may call, gateway.yaml says where each operation goes.

    \b
    Try it with nothing but this program:  modelway demo
    Begin your own:                        modelway init my-gateway
    Look for mistakes, as CI would:        modelway check -c gateway.yaml
    Run it:                                modelway serve -c gateway.yaml
    """

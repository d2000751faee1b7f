"""The command `modelway`. One file here is one command: a module that defines `command`
(`import_.py` is `import`, which Python reserves). Read `config_file.py` first: the options and
messages that commands share.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import pkgutil
import sys
from importlib import metadata
from keyword import iskeyword
from typing import Any

import click

from engine.values.gc_pause import no_collection
from engine.values.runtime_dir import NoWritableFolder

_NOT_COMMANDS = frozenset({"config_file", "database", "formats"})
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of the device that the output is written to."""


class _Commands(click.Group):
    """Finds commands by their files, and imports only the one that runs."""

    def main(self, *arguments: Any, **more: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # file names may hold any bytes
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
            if error.errno in _OUTPUT_ERRORS:
                click.echo(f"modelway: the output cannot be written: {error.strerror}", err=True)
            elif error.errno != errno.EPIPE:  # a closed pipe is no error
                raise
            # The interpreter flushes stdout once more when it exits; that must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (module.name.rstrip("_") for module in pkgutil.iter_modules(__path__))
        return sorted(name for name in names if name not in _NOT_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        with no_collection(keep=True):
            command = importlib.import_module(f"{__name__}.{module}").command
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(metadata.version("modelway"), prog_name="modelway")
def main() -> None:
    """A gateway for AI models in which no endpoint is code.

    OpenAPI documents define what callers may call, gateway.yaml where each operation goes.

    \b
    Try it without any account:  modelway demo
    Start a project:             modelway init my-gateway
    Check it, as in CI:          modelway check -c gateway.yaml
    Run it:                      modelway serve -c gateway.yaml
    """

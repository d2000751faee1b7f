"""The command `modelway`. One file here is one command: a module that defines `command`, and whose
docstring begins with its command line and summary (`import_.py` is `import`, which Python
reserves). Read `command_group.py` first, which finds them, then `config_file.py`: the options and
messages that commands share.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import click

from engine.cli.command_group import CommandGroup
from engine.process.runtime_dir import NoWritableFolder

_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of the device that the output is written to."""


class _Modelway(CommandGroup):
    """The edge of the program: what it writes and how it ends."""

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
            elif error.errno != errno.EPIPE:  # a closed pipe is not an error
                _report(error, arguments, more)
            # The interpreter flushes stdout once more when it exits; that must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except Exception as error:  # noqa: BLE001 - no input may end a command in a traceback
            _report(error, arguments, more)


def _report(error: Exception, arguments: Sequence[Any], more: Mapping[str, Any]) -> NoReturn:
    """Print the finding for an unexpected exception, and exit with status 1."""
    values = [*arguments, more.get("args")][0]
    unexpected_errors = importlib.import_module(
        f"{__name__}.unexpected_errors"
    )  # hardly ever needed
    unexpected_errors.report(error, list(sys.argv[1:] if values is None else values))
    sys.exit(1)


@click.command(
    cls=_Modelway, package=__name__, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="modelway", prog_name="modelway")
def main() -> None:
    """A gateway for AI models in which no endpoint is code.

    OpenAPI documents define what callers may call, gateway.yaml where each operation goes.

    \b
    Try it without any account:  modelway demo
    Start a project:             modelway init my-gateway
    Check it, as in CI:          modelway check -c gateway.yaml
    Run it:                      modelway serve -c gateway.yaml
    """

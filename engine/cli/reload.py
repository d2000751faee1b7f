"""`modelway reload`: a running gateway takes the config as it is now."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.server import reload
from engine.server.master import BOOT_SECONDS
from engine.server.trial import SECONDS
from engine.values.runtime_dir import runtime_directory

_PATIENCE = 2 * SECONDS + BOOT_SECONDS
"""Seconds for the trial, the plan and the new workers, at most."""


@click.command()
@config_option
def command(config: Path) -> None:
    """Let the gateway that serves this config take it as it is now.

    It is checked first: with an error anywhere nothing happens. The gateway tries it in a process
    of its own, then new workers take over and the old ones finish their requests. The same as
    SIGHUP.
    """
    plan_or_exit(config)
    folder = runtime_directory(config)
    before = reload.read(folder)
    if before is None or not _lives(before.pid):
        raise click.ClickException(f"no gateway of this user serves {config}")
    os.kill(before.pid, signal.SIGHUP)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        state = reload.read(folder)
        if state is not None and state.tried > before.tried:
            if state.error:
                raise click.ClickException(state.error)
            click.echo(f"config {state.hash} is served from now on")
            return
        time.sleep(0.1)
    raise click.ClickException(f"the gateway (pid {before.pid}) did not answer in {_PATIENCE:g} s")


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True

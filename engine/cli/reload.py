"""`modelway reload`: a running gateway loads its config again."""

from __future__ import annotations

import os
import signal
import time

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.config.config_files import ConfigFiles
from engine.server import reload
from engine.server.arbiter import BOOT_SECONDS
from engine.server.trial import SECONDS
from engine.values.runtime_dir import runtime_directory

_TIMEOUT = 2 * SECONDS + BOOT_SECONDS
"""Seconds for the trial, the plan and the new workers."""


@click.command()
@config_option
def command(config: ConfigFiles) -> None:
    """Make the gateway that serves this config load it again, as SIGHUP does.

    The config is checked first; with any error nothing changes. The gateway starts it on trial in a
    separate process, then new workers take over and the old ones finish their requests.
    """
    plan_or_exit(config)
    folder = runtime_directory(config.main, config.overlays)
    before = reload.read(folder)
    if before is None or not _is_alive(before.pid):
        raise click.ClickException(f"no running gateway of this user serves {config}")
    os.kill(before.pid, signal.SIGHUP)
    end = time.monotonic() + _TIMEOUT
    while time.monotonic() < end:
        state = reload.read(folder)
        if state is not None and state.tried > before.tried:
            if state.error:
                raise click.ClickException(state.error)
            click.echo(f"config {state.hash} is now in use")
            return
        time.sleep(0.1)
    raise click.ClickException(f"the gateway (pid {before.pid}) did not answer in {_TIMEOUT:g} s")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True

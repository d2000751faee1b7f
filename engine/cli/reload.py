"""`modelway reload`: a running gateway loads its config again."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.config.config_files import ConfigFiles
from engine.server.master import BOOT_SECONDS
from engine.server.master_state import State, read_all
from engine.server.trial import SECONDS
from engine.server.worker_states import Phase, WorkerState
from engine.values.runtime_dir import runtime_directory

_TIMEOUT = 2 * SECONDS + BOOT_SECONDS
"""The timeout in seconds of a reload: trial, plan and new workers."""


@click.command()
@config_option
def command(config: ConfigFiles) -> None:
    """Make the gateways that serve this config load it again, as SIGHUP does.

    The config is checked first; with any error nothing changes. A gateway starts it on trial in a
    separate process, then new workers take over and the old ones finish their requests. Prints for
    each worker the config that it serves, its state and since when, and why it failed.
    """
    plan_or_exit(config)
    folder = runtime_directory(config.main, config.overlays)
    before = [state for state in read_all(folder) if not state.stops]
    if not before:
        raise click.ClickException(f"no running gateway of this user serves {config}")
    for state in before:
        with suppress(ProcessLookupError):  # it has ended just now, which `_result` reports
            os.kill(state.pid, signal.SIGHUP)
    errors = [error for state in before if (error := _result(folder, state, len(before) > 1))]
    if errors:
        raise click.ClickException("\n".join(errors))


def _result(folder: Path, before: State, several: bool) -> str:
    """Wait for the result of a gateway, and print it. Returns the error, or ""."""
    gateway = f"gateway {before.pid}: " if several else ""
    end = time.monotonic() + _TIMEOUT
    while time.monotonic() < end:
        state = next((state for state in read_all(folder) if state.pid == before.pid), None)
        if state is None:
            return f"{gateway}the gateway (pid {before.pid}) has ended"
        if state.tried != before.tried:  # less, if the clock was set back
            if not state.error:
                click.echo(f"{gateway}config {state.hash} is now in use")
            for worker in state.workers:
                click.echo(_line(worker))
            return f"{gateway}{state.error}" if state.error else ""
        time.sleep(0.1)
    return f"{gateway}the gateway (pid {before.pid}) did not answer in {_TIMEOUT:g} s"


def _line(worker: WorkerState) -> str:
    """The state of a worker, for people."""
    reason = f": {worker.error}" if worker.error else ""
    phases = {Phase.ENDS: "ends its requests", Phase.STARTS: "is starting"}
    phase = phases.get(worker.phase, worker.phase)
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(worker.since))
    return f"  worker {worker.pid}  config {worker.config}  {phase} since {since}{reason}"

"""`modelway reload`: make a running gateway load its config again."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.cli.output import format_option
from engine.config.config_files import ConfigFiles
from engine.process.runtime_dir import runtime_directory
from engine.server.config_trial import SECONDS
from engine.server.master import BOOT_SECONDS
from engine.server.master_state import Phase, State, WorkerState, read_all

_TIMEOUT = 2 * SECONDS + BOOT_SECONDS
"""The timeout in seconds of a reload: trial, plan and new workers."""


@click.command()
@format_option()
@config_option
def command(config: ConfigFiles, output_format: str) -> None:
    """Make the gateways that serve this config load it again, as SIGHUP does.

    The config is checked first; with any error nothing changes. A gateway starts it on trial in a
    separate process, then new workers take over and the old ones finish their requests. Prints for
    each worker the config that it serves, its state and since when, and why it failed.
    """
    plan_or_exit(config, "nothing is reloaded")
    folder = runtime_directory(config.main, config.overlays)
    before = [state for state in read_all(folder) if not state.stops]
    if not before:
        raise click.ClickException(f"no running gateway of this user serves {config}")
    for state in before:
        with suppress(ProcessLookupError):  # it has ended just now, which `_reloaded` reports
            os.kill(state.pid, signal.SIGHUP)
    errors, documents = [], []
    for state in before:
        gateway = f"gateway {state.pid}: " if len(before) > 1 else ""
        try:
            after = _reloaded(folder, state)
        except _NotReloaded as error:
            errors.append(f"{gateway}{error}")
            continue
        documents.append(_document(after))
        if output_format == "text":
            _print(after, gateway)
        if after.error:
            errors.append(f"{gateway}{after.error}")
    if output_format == "json":
        click.echo(json.dumps({"gateways": documents}, indent=2))
    if errors:
        raise click.ClickException("\n".join(errors))


class _NotReloaded(Exception):
    """A gateway gave no result; `str` says why."""


def _reloaded(folder: Path, before: State) -> State:
    """The state of a gateway after its reload. Raises _NotReloaded."""
    end = time.monotonic() + _TIMEOUT
    while time.monotonic() < end:
        state = next((state for state in read_all(folder) if state.pid == before.pid), None)
        if state is None:
            raise _NotReloaded(f"the gateway (pid {before.pid}) has ended")
        if state.tried != before.tried:  # less, if the clock was set back
            return state
        time.sleep(0.1)
    raise _NotReloaded(f"the gateway (pid {before.pid}) did not answer in {_TIMEOUT:g} s")


def _print(state: State, gateway: str) -> None:
    if not state.error:
        click.echo(f"{gateway}config {state.hash} is now in use")
    for worker in state.workers:
        reason = f": {worker.error}" if worker.error else ""
        kind = "heavy worker" if worker.is_heavy else "worker"
        click.echo(
            f"  {kind} {worker.pid}  config {worker.config}  {_phase(worker)} "
            f"since {_since(worker)}{reason}"
        )


def _document(state: State) -> dict[str, Any]:
    workers = [
        {
            "pid": worker.pid,
            "heavy": worker.is_heavy,
            "config": worker.config,
            "phase": _phase(worker),
            "since": _since(worker),
            "error": worker.error or None,
        }
        for worker in state.workers
    ]
    return {
        "pid": state.pid,
        "config": state.hash,
        "error": state.error or None,
        "workers": workers,
    }


def _phase(worker: WorkerState) -> str:
    phases = {Phase.ENDS: "finishing its requests", Phase.STARTS: "starting"}
    return phases.get(worker.phase, worker.phase)


def _since(worker: WorkerState) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(worker.since))

"""`modelway serve`: run the gateway."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from engine.app.telemetry import formatter_of
from engine.cli.config_file import config_option, plan_of, result_or_exit
from engine.config.config_files import ConfigFiles
from engine.offline.rehearsal.boot import boot
from engine.plan.route import Plan
from engine.server.listen_addresses import exit_if_unavailable, listen_addresses
from engine.server.listening_sockets import PassedSockets
from engine.server.reload import Gateway, Plans
from engine.server.trial import try_out
from engine.source.child_process import return_memory
from engine.telemetry.metrics.storage.folder import folder_of
from engine.values.gc_pause import no_collection
from engine.values.runtime_dir import runtime_directory


@click.command()
@config_option
def command(config: ConfigFiles) -> None:
    """Run the gateway that the config describes.

    The config is checked and started on trial first: with any error, all errors are printed and
    nothing is served. The gateway listens on `server.listen`, for metrics and health on
    `telemetry.listen`, with `server.workers` processes. SIGTERM stops it when the requests in
    progress have ended, or after `server.drain`. SIGHUP, `modelway reload` and `server.watch: true`
    load the config again: it is checked and started on trial, and used only without errors.

    Under your own gunicorn: MODELWAY_CONFIG=gateway.yaml gunicorn -k gevent engine.wsgi:app
    (overlays after a colon: gateway.yaml:prod.yaml)
    """
    with no_collection(keep=True):
        plans, passed = _start_on_trial(config)
        return_memory()
    try:
        folder = folder_of(os.getpid())  # also without metrics: a reload may switch them on
    except OSError as error:
        raise click.ClickException(str(error)) from error
    master = os.getpid()
    try:
        formatter = formatter_of(plans.plan.config)
        Gateway(plans, folder, lambda: _announce(plans.plan), formatter, passed).run()
    finally:
        if os.getpid() == master:
            shutil.rmtree(folder, ignore_errors=True)


def _start_on_trial(config: ConfigFiles) -> tuple[Plans, PassedSockets]:
    """Plan the config and start it on trial. Returns the plans, and the sockets that systemd
    passed. Exits with the errors of the config or of the trial."""
    first = result_or_exit(plan_of(config))
    assert first.plan is not None
    # Before the trial, which migrates the database: a gateway that runs here may be using it.
    passed, server = PassedSockets.from_environment(), first.plan.config.server
    addresses = listen_addresses(server.listen, first.plan.config.telemetry.address)
    exit_if_unavailable(addresses, passed, server.reuse_port)
    trial = try_out(lambda: first, start)
    if trial.error:
        raise click.ClickException(trial.error)
    if trial.warning:
        click.echo(f"modelway: {trial.warning}", err=True)
    folder = runtime_directory(config.main, config.overlays)
    return Plans(first, lambda: plan_of(config), folder, start), passed


def _announce(plan: Plan) -> None:
    """Print on standard error the number of operations, and the addresses."""
    pages = f"; metrics and health on {at}" if (at := plan.config.telemetry.address) else ""
    listen = plan.config.server.listen
    click.echo(f"modelway: {len(plan.routes)} operations on {listen}{pages}", err=True)


def start(plan: Plan, folder: Path) -> str:
    """Start a plan on trial and migrate the database; returns a warning, or ""."""
    return boot(plan, folder, migrate=True).warning

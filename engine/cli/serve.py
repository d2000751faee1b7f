"""`modelway serve`: the gateway under gunicorn with gevent workers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from engine.app.telemetry import form_of
from engine.cli.config_file import config_option, result_or_exit
from engine.offline.rehearsal.boot import boot
from engine.plan.make import make_plan
from engine.plan.route import Plan
from engine.server.master import addresses, exit_if_taken
from engine.server.reload import Gateway, Plans
from engine.server.trial import try_out
from engine.source.isolated import release_memory
from engine.telemetry.metrics.folder import folder_of
from engine.values.runtime_dir import runtime_directory


@click.command()
@config_option
def command(config: Path) -> None:
    """Serve the gateway that the config describes.

    Reads everything first, and starts it once on trial: with a single error anywhere, all are
    printed and nothing is served.
    Listens where `server.listen` says, and with metrics and health where `telemetry.listen` says,
    with `server.workers` processes. SIGTERM ends it after the
    requests under way, or after `server.grace`. SIGHUP, `modelway reload`, or `server.watch: true`
    take the config as it is then: planned and started on trial first, and served only without an
    error.

    Under your own gunicorn: MODELWAY_CONFIG=gateway.yaml gunicorn -k gevent engine.wsgi:app
    """
    first = result_or_exit(make_plan(config, os.environ))
    assert first.plan is not None
    # Before the trial, which migrates the database: it may be that of a gateway that runs.
    exit_if_taken(addresses(first.plan.config.server.listen, first.plan.config.telemetry.address))
    trial = try_out(lambda: first, start)
    if trial.error:
        raise click.ClickException(trial.error)
    if trial.warning:
        click.echo(f"modelway: {trial.warning}", err=True)
    plans = Plans(first, lambda: make_plan(config, os.environ), runtime_directory(config), start)
    release_memory()
    try:
        folder = folder_of(os.getpid())  # also without metrics: a reload may ask for them
    except OSError as error:
        raise click.ClickException(str(error)) from error

    def ready() -> None:
        config = plans.plan.config
        pages = f"; metrics and health on {at}" if (at := config.telemetry.address) else ""
        listen = config.server.listen
        click.echo(f"modelway: {len(plans.plan.routes)} operations on {listen}{pages}", err=True)

    master = os.getpid()
    try:
        Gateway(plans, folder, ready, form_of(plans.plan.config)).run()
    finally:
        if os.getpid() == master:
            shutil.rmtree(folder, ignore_errors=True)


def start(planned: Plan, folder: Path) -> str:
    """Start a plan on trial, with the database brought up to date; a warning, or ""."""
    return boot(planned, folder, migrate=True).warning

"""`modelway serve`: the gateway under gunicorn with gevent workers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from engine.cli.show import config_option, planned_or_exit
from engine.connect import CannotConnect, prepare
from engine.observing import form_of
from engine.server import Gunicorn
from engine.serving import metrics_folder, serving


@click.command()
@config_option
def command(config: Path) -> None:
    """Serve the gateway that the config describes.

    Reads everything first: with a single error anywhere, all are printed and nothing is served.
    Listens where `server.listen` says, with `server.workers` processes. SIGTERM ends it after the
    requests under way, or after `server.grace`.

    Under your own gunicorn: MODELWAY_CONFIG=gateway.yaml gunicorn -k gevent engine.wsgi:app
    """
    plan = planned_or_exit(config)
    server = plan.config.server
    try:
        if warning := prepare(plan.config):
            click.echo(f"modelway: {warning}", err=True)
        folder = metrics_folder(plan, os.getpid())
    except (CannotConnect, OSError) as error:
        raise click.ClickException(str(error)) from error

    def ready() -> None:
        click.echo(f"modelway: {len(plan.routes)} operations on {server.listen}", err=True)

    master = os.getpid()
    try:
        form = form_of(plan.config)
        Gunicorn(server, lambda: serving(plan, folder), ready, form).run()
    finally:
        if folder is not None and os.getpid() == master:
            shutil.rmtree(folder, ignore_errors=True)

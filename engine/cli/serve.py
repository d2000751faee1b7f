"""`modelway serve`: run the gateway."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

import engine.server.serving  # noqa: F401 - what the child on trial and the workers both need
from engine.app.preload import preload
from engine.app.services.telemetry import formatter_of
from engine.cli.config_file import config_option, plan_of, result_or_exit
from engine.config.config import Config
from engine.config.config_files import ConfigFiles
from engine.config.console import HOME
from engine.config.listen_address import ListenAddress
from engine.config.telemetry import PUBLIC, READY
from engine.plan.plan import Plan, PlanResult
from engine.process.gc_pause import no_collection, return_memory
from engine.process.runtime_dir import runtime_directory
from engine.server.config_trial import try_out
from engine.server.sockets.listening_sockets import (
    PassedSockets,
    exit_if_unavailable,
    listen_addresses,
)
from engine.spec.schemas.schema_validator import compile_on_use
from engine.telemetry.metrics.storage.folder import folder_of
from engine.values.units import format_count

if TYPE_CHECKING:
    from engine.server.reload import Plans


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
        from engine.server.gateway import Gateway

        formatter = formatter_of(plans.plan.config)
        Gateway(plans, folder, lambda: _announce(plans.plan), formatter, passed).run()
    finally:
        if os.getpid() == master:
            shutil.rmtree(folder, ignore_errors=True)


def _start_on_trial(config: ConfigFiles) -> tuple[Plans, PassedSockets]:
    """Plan the config and start it on trial. Returns the plans, and the sockets that systemd
    passed. Exits with the errors of the config or of the trial."""
    first = result_or_exit(_plan(config))
    assert first.plan is not None
    # Before the trial, which migrates the database: a gateway that runs here may be using it.
    passed, server = PassedSockets.from_environment(), first.plan.config.server
    addresses = listen_addresses(server.listen, first.plan.config.telemetry.address)
    exit_if_unavailable(addresses, passed, server.reuse_port)
    trial = try_out(lambda: first, start, meanwhile=partial(_load, first.plan))
    if trial.error:
        raise click.ClickException(trial.error)
    if trial.warning:
        click.echo(f"modelway: {trial.warning}", err=True)
    from engine.server.reload import Plans

    folder = runtime_directory(config.main, config.overlays)
    return Plans(first, lambda: _plan(config), folder, start), passed


def _plan(config: ConfigFiles) -> PlanResult:
    """The plan of a config. A schema that an earlier process has proven is compiled by the first
    request of its operation: few of a document's operations are ever called, and all of the shipped
    documents' schemas take 7 MB."""
    with compile_on_use():
        return plan_of(config)


def _load(plan: Plan) -> None:
    """Load what the master and its workers need, while the config is tried."""
    import_module("engine.server.gateway")
    preload(plan)


def _announce(plan: Plan) -> None:
    """Print on standard error the number of operations, the address, and what can be opened."""
    listen = plan.config.server.listen
    count = format_count(len(plan.routes), "operation")
    click.echo("\n".join([f"modelway: {count} on {listen}", *_pages(plan.config)]), err=True)


def _pages(config: Config) -> Iterator[str]:
    """A line for each thing that a browser or a client opens, with its URL."""
    telemetry, listen = config.telemetry, ListenAddress.parse(config.server.listen)
    if not listen.url:
        yield f"  API      curl --unix-socket {shlex.quote(listen.path)} http://localhost/"
    else:
        yield f"  API      {config.server.base_url or listen.url}"
    if listen.url and config.console.enabled:
        yield f"  console  {listen.url}{HOME.path}"
    pages = telemetry.address or (config.server.listen if telemetry.listen == PUBLIC else "")
    address = ListenAddress.parse(pages).url if pages else ""
    if address and telemetry.metrics:
        yield f"  metrics  {address}{telemetry.metrics}"
    if address:
        yield f"  health   {address}{READY}"


def start(plan: Plan, folder: Path) -> str:
    """Start a plan on trial and migrate the database; returns a warning, or ""."""
    from engine.offline.rehearsal.boot import boot  # which only the child on trial needs

    return boot(plan, folder, migrate=True).warning

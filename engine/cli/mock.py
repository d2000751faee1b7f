"""`modelway mock`: run a mock upstream, generated from the documents."""

from __future__ import annotations

import click
from click.core import ParameterSource

from engine import dialects
from engine.cli.config_file import config_option, plan_of, result_or_exit
from engine.config.config_files import ConfigFiles
from engine.config.server import Server
from engine.mock.app import build
from engine.server.gunicorn_application import GunicornApplication
from engine.server.sockets.listening_sockets import exit_if_unavailable
from engine.source.files import CONFIG
from engine.values.units import format_count


@click.command()
@click.option("-p", "--port", default=9000, show_default=True, help="Port on 127.0.0.1.")
@config_option
@click.option(
    "--credential",
    default="mock-credential",
    show_default=True,
    help="The only credential it accepts, sent as the document describes.",
)
@click.option("--delay", default=0.0, help="Seconds between two events of a stream.")
@click.option("--workers", default=1, show_default=True, help="Worker processes.")
@click.pass_context
def command(
    context: click.Context,
    port: int,
    config: ConfigFiles,
    credential: str,
    delay: float,
    workers: int,
) -> None:
    """Run a mock upstream, which responds with the examples of the documents.

    Chat responses repeat the last user message, word by word in a stream. Paths begin with those of
    the documents' server URLs, as at the real upstreams.

    It serves the documents of the config; where no gateway.yaml is in the folder and no config is
    named, the shipped ones.

    \b
    Names of models request faults:
      fault-status-503   fault-status-429-retry-after-2   fault-slow-0.5   fault-garbage
      fault-close        fault-close-after-3   fault-stall-after-3   fault-error-after-3
    """
    listen = f"127.0.0.1:{port}"
    exit_if_unavailable({"--port": listen})
    is_default = context.get_parameter_source("config") is ParameterSource.DEFAULT
    if is_default and not config.main.exists():
        config = ConfigFiles(CONFIG, ())
    result = result_or_exit(plan_of(config))
    assert result.plan is not None
    specs = result.plan.config.specs
    documents = [
        (specification, dialects.get(specs[name].dialect))
        for name, specification in result.specifications.items()
    ]
    # No heavy worker: it would have uploads and objects of its own.
    server = Server(listen=listen, workers=workers, heavy_processes=0, grace=1.0)

    def ready() -> None:
        count = format_count(len(documents), "document")
        click.echo(f"mock: {count} on http://{listen}", err=True)

    GunicornApplication(server, lambda: build(documents, credential, delay), ready).run()

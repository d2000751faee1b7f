"""`modelway mock`: an upstream to test against, made from the documents."""

from __future__ import annotations

import os
from pathlib import Path

import click

from engine import dialects
from engine.cli.config_file import result_or_exit
from engine.config.model import Server
from engine.mock.app import build
from engine.plan.make import make_plan
from engine.server.master import Gunicorn
from engine.source.files import CONFIG


@click.command()
@click.option("-p", "--port", default=9000, show_default=True, help="Port on 127.0.0.1.")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=None,
    help="Whose documents to answer for; the shipped ones by default.",
)
@click.option(
    "--credential",
    default="mock-credential",
    show_default=True,
    help="The one credential it accepts, wherever a document says that a token stands.",
)
@click.option("--delay", default=0.0, help="Seconds between two pieces of a stream.")
@click.option("--workers", default=1, show_default=True, help="Worker processes.")
def command(port: int, config: Path | None, credential: str, delay: float, workers: int) -> None:
    """Answer every operation from its document's examples, and echo what is said to a model.

    Chat answers repeat the last user message, word by word in a stream. It stands where the
    upstreams of a config would: under the path of each document's own server URL.

    \b
    Faults are asked for by the model's name:
      fault-status-503   fault-status-429-retry-after-2   fault-slow-0.5   fault-garbage
      fault-close        fault-close-after-3   fault-stall-after-3   fault-error-after-3
    """
    planned = result_or_exit(make_plan(config or CONFIG, os.environ))
    assert planned.plan is not None
    specs = planned.plan.config.specs
    documents = [
        (specification, dialects.get(specs[name].dialect))
        for name, specification in planned.specifications.items()
    ]
    server = Server(listen=f"127.0.0.1:{port}", workers=workers, grace=1.0)

    def ready() -> None:
        click.echo(f"mock: {len(documents)} documents on http://127.0.0.1:{port}", err=True)

    Gunicorn(server, lambda: build(documents, credential, delay), ready).run()

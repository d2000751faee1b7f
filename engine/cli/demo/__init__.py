"""`modelway demo`: run the shipped gateway with a mock upstream.

`gateway` starts both. It has most of the program to import, so it follows the first line of output
and the check of the port.
"""

from __future__ import annotations

import socket
import sys

import click


@click.command()
@click.option("-p", "--port", default=0, help="Port on 127.0.0.1; a free one by default.")
def command(port: int) -> None:
    """Run the shipped gateway with a mock upstream, and print how to call it.

    It needs no account, no key and no network: the mock echoes messages. Ctrl-C stops both.
    """
    _require_free(port)
    click.echo("modelway: starting the demo, which takes a few seconds ...", err=True)
    from engine.cli.demo.gateway import run

    run(port)


def _require_free(port: int) -> None:
    """End the process with one line when a port cannot be listened on; 0 stands for a free one."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not from 0 to 65535"
            sys.exit(
                f"modelway: cannot listen on 127.0.0.1:{port} (--port): {reason}; choose another "
                "port, or leave it out for a free one"
            )

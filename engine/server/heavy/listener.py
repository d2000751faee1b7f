"""The heavy worker's side: it serves the requests that workers pass, as a worker serves a
connection."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

import gevent.socket
from gevent.pool import Pool

from engine.process.channel import Channel
from engine.server.connection_handler import ConnectionHandler
from engine.server.heavy.passed_request import ReportingSocket, receive_request, send_report


class HeavyListener:
    """Serves what comes over a channel until no worker is left, by the handler of the listener that
    accepted the connection: `load` makes them before the first request, none if it cannot.
    `connections` holds its greenlets."""

    is_telemetry = False

    def __init__(
        self,
        channel: Channel,
        load: Callable[[], Sequence[ConnectionHandler]],
        pool: Pool,
    ) -> None:
        self.connections = pool
        self._channel = channel
        self._load = load
        self._handlers: Sequence[ConnectionHandler] = ()

    def start(self) -> None:
        """Receive requests from now on."""
        self.connections.spawn(self._receive)

    def end(self) -> None:
        """Nothing to do: it ends when no worker is left."""

    def _receive(self) -> None:
        while (descriptors := self._channel.receive()) is not None:
            self._handlers = self._handlers or self._load()
            if len(descriptors) == 2 and self._handlers:
                self.connections.spawn(self._serve, *descriptors)
            else:  # the system dropped one, as this process has no room, or nothing can serve it
                for descriptor in descriptors:
                    os.close(descriptor)

    def _serve(self, caller: int, report: int) -> None:
        with (
            gevent.socket.socket(fileno=report) as worker,
            gevent.socket.socket(fileno=caller) as client,
            contextlib.suppress(EOFError, OSError),  # the worker has died
        ):
            request = receive_request(worker)
            sock = ReportingSocket(client, worker)
            sock.buffered = request.buffered
            reusable = self._handlers[request.listener].serve_passed(sock, request)
            send_report(worker, is_reusable=reusable, rest=sock.buffered)

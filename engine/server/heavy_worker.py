"""The heavy worker: it serves the requests that workers pass, and accepts no connections."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import ClassVar

import gevent.socket
from gevent.pool import Pool
from gunicorn.errors import AppImportError

from engine.process import file_descriptors
from engine.process.channel import Channel
from engine.server.connection_admission import Admission
from engine.server.connection_handler import ConnectionHandler
from engine.server.large_requests.passed_request import (
    ReportingSocket,
    receive_request,
    send_report,
)
from engine.server.worker import Worker

HEAVY_NAME = "modelway-heavy"


class HeavyWorker(Worker):
    """A worker for requests with large bodies. It makes its application for its first request, as
    most of its memory is that."""

    process_name: ClassVar = HEAVY_NAME

    def keep_channel(self) -> None:
        if self.role.channel is not None:
            self.role.channel.keep_receiving()

    def load_wsgi(self) -> None:
        """Later, see `load_handlers`."""

    def open_listeners(self, admission: Admission) -> Sequence[HeavyListener]:
        assert self.role.channel is not None
        # A request takes four: its caller's, its worker's, its body's and its upstream's.
        file_descriptors.raise_limit(2 * self.worker_connections)
        addresses = [sock.getsockname() for sock in self.sockets]
        for sock in self.sockets:
            sock.close()  # so that the address refuses connections when no worker is left
        pool = Pool(self.worker_connections)
        admission.pools.append(pool)
        return [HeavyListener(self.role.channel, partial(self.load_handlers, addresses), pool)]

    def load_handlers(self, addresses: Sequence[object]) -> list[ConnectionHandler]:
        """Make the application, and the handlers of listeners at these addresses. If that fails
        there are none, and the worker ends, to be replaced."""
        try:
            super().load_wsgi()
        except AppImportError as error:
            self.log.error("a heavy worker cannot serve: %s", error)
        except Exception as error:
            self.log.error("a heavy worker cannot serve", exc_info=error)
        else:
            return [self.handler_at(address) for address in addresses]
        self.handle_quit(0, None)
        return []

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM: workers may still pass requests; it ends with the last of them."""
        self.leave(has_successor=True)


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
            lesson = sock.cost.lesson
            send_report(worker, is_reusable=reusable, rest=sock.buffered, lesson=lesson)

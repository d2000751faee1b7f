"""A worker and a heavy worker in one process, with an application that says which one served."""

from __future__ import annotations

import logging
from typing import Any

import gevent
import gevent.socket
from gevent.pool import Pool

from engine.exchange.caller_connection import InvalidFraming
from engine.process.channel import Channel
from engine.server.connection_admission import IdleConnections
from engine.server.connection_handler import ConnectionHandler, HTTPSettings
from engine.server.environ import SchemeHeaders
from engine.server.heavy_worker import HeavyListener
from engine.server.http1.request import Limits
from engine.server.large_requests.pass_requests import NothingPasses, Passing
from engine.values.errors import GatewayError
from tests.support.waiting import PATIENCE

LOG = logging.getLogger("gunicorn.error")
SMALL = b"POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
LARGE = b"POST /large HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n" + b"x" * 20
CHUNKED = b"POST /chunked HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
LAST = b"0\r\n\r\n"


class ProcessEnd(BaseException):
    """The end of a process: nothing is sent any more."""


class Application:
    """Answers with its name, the path, the caller's address and the size of the body, unless its
    process `dies`. Bodies for the path `/slow` may be costly; to check one takes so many `seconds`
    for each byte, if that is known."""

    costly_operations = frozenset({"/slow"})

    def __init__(self, name: str) -> None:
        self.name = name
        self.dies = False
        self.seconds: float | None = None

    def on_listener(self, address: Any) -> Any:
        return self.serve

    def operation(self, environ: Any) -> str:
        return str(environ["PATH_INFO"])

    def serve(self, environ: Any, start_response: Any, connection: Any) -> Any:
        if self.dies:
            raise ProcessEnd
        try:
            body = connection.buffered_body()
            body = connection.read(10_000) if body is None else body
        except (GatewayError, InvalidFraming) as error:
            status = error.status if isinstance(error, GatewayError) else 400
            start_response(f"{status} No", [("content-length", "0")])
            connection.close_after()
            return [b""]
        if self.seconds is not None:
            size = len(body)
            connection.heavy_calls.note_cost(environ["PATH_INFO"], size, size * self.seconds)
        words = self.name, environ["PATH_INFO"], environ["REMOTE_ADDR"], str(len(body))
        text = " ".join(words).encode()
        start_response("200 OK", [("content-length", str(len(text)))])
        return [text]


class Processes:
    """A worker and a heavy worker, both in this process, and a caller's connection."""

    def __init__(self, application: Any = None, above: int = 15) -> None:
        self.channel = Channel()
        self.heavy = Application("heavy")
        pool = Pool()
        handler = self._handler(application or self.heavy)
        self.listener = HeavyListener(self.channel, lambda: [handler], pool)
        self.listener.start()
        self.passing = Passing(self.channel, above)
        worker = self._handler(Application("worker"), self.passing)
        near, self.caller = gevent.socket.socketpair()
        self.serving = gevent.spawn(worker, near, ("10.0.0.1", 4711))

    def _handler(self, application: Any, passing: Passing | None = None) -> ConnectionHandler:
        settings = HTTPSettings(Limits(), SchemeHeaders({}, []), {})
        return ConnectionHandler(
            application,
            ("127.0.0.1", 80),
            IdleConnections(),
            settings,
            lambda: True,
            LOG,
            passing or NothingPasses(),
        )

    def answers(self, *data: bytes) -> list[str]:
        """The bodies of the answers, or their statuses where they have none."""
        for piece in data:
            self.caller.sendall(piece)
        self.caller.shutdown(1)
        received = b""
        with gevent.Timeout(PATIENCE):
            while piece := self.caller.recv(65_536):
                received += piece
        parts = received.decode().split("HTTP/1.1 ")[1:]
        return [part.partition("\r\n\r\n")[2] or part[:3] for part in parts]

    def close(self) -> None:
        self.caller.close()
        self.serving.join(PATIENCE)
        self.channel.keep_receiving()  # no worker is left
        self.listener.connections.join(PATIENCE)
        assert not self.listener.connections
        self.channel.close()

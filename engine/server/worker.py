"""gunicorn's gevent worker, stricter at the door, quicker to answer and quicker to stop.

What is no valid HTTP request is answered with the error object instead of an HTML page. Idle
connections end as soon as the worker does. Of gunicorn's settings it does without the access log,
the hooks around a request, HTTP/2 and early hints. `gunicorn -k gevent` works as well, without
what is better here.
"""

from __future__ import annotations

import errno
import math
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gevent
import gevent.socket
import orjson
from gevent.event import Event
from gevent.pool import Pool
from gunicorn import util
from gunicorn.http import errors
from gunicorn.http.wsgi import base_environ
from gunicorn.sock import ssl_context
from gunicorn.workers.ggevent import GeventWorker

from engine import dialects
from engine.exchange.exchange import new_request_id
from engine.server.application import Application, Serve
from engine.server.environ import environ_of
from engine.server.listener import Admission, IdleConnections, Listener
from engine.server.outgoing import Outgoing
from engine.server.shutdown import SIGNALS, ShutdownDeadlines, deadlines
from engine.server.strict import Requests
from engine.server.worker_connection import WorkerConnection
from engine.values import file_descriptors
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_STATUS = (
    (errors.LimitRequestLine, 414, "URI Too Long"),
    (errors.LimitRequestHeaders, 431, "Request Header Fields Too Large"),
    (errors.ExpectationFailed, 417, "Expectation Failed"),
    (errors.ParseException, 400, "Bad Request"),
)
_BADLY_FRAMED = (
    errors.InvalidChunkSize,
    errors.InvalidChunkExtension,
    errors.ChunkMissingTerminator,
)
_CALLER_LEFT = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)
_LOOK = 0.25
_LAST_REQUEST = 1.0
"""Seconds that a connection of a worker that stops may be idle."""
_SHORTEST = 1.0
"""Seconds that callers have at least to take the news that their request is ended."""
_LAST_KILL = 0.5
_NEVER = ShutdownDeadlines(math.inf, math.inf)


class Worker(GeventWorker):  # type: ignore[misc]
    """The worker that `modelway serve` runs."""

    wsgi: Application
    _loaded = False
    _deadlines = _NEVER  # on the steady clock
    _stopping: Event | None = None
    _admission: Admission | None = None

    def init_process(self) -> None:
        self.cfg: Any = _Settled(self.cfg)
        self._idle = IdleConnections()
        self._own_idle: dict[Any, IdleConnections] = {}  # of listeners with places of their own
        self._applications: dict[Any, Serve] = {}
        file_descriptors.raise_limit(self.cfg.worker_connections)
        gevent.config.track_greenlet_tree = False  # nobody asks who began a greenlet
        self._base = base_environ(self.cfg) | {"wsgi.multithread": True, "SCRIPT_NAME": ""}
        super().init_process()

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self._loaded = True

    def run(self) -> None:
        """Serve until a signal ends it. Instead of gunicorn's, which lets requests go on until the
        master kills the worker, and looks for their end once a second."""
        self._stopping = Event()
        admission = Admission(self.worker_connections, self._idle, self._no_room)
        listeners = [self._listener(sock, admission) for sock in self.sockets]
        self._admission = admission
        try:
            for listener in listeners:
                listener.start()
            while self.alive:
                self.notify()
                self._stopping.wait(1.0)
            for listener in listeners:
                listener.close()
            self._end_requests(admission.pools)
        finally:
            self.wsgi.close()

    def _listener(self, sock: Any, admission: Admission) -> Listener:
        sock.setblocking(1)
        # Its name now: a connection may be accepted just before the listener is closed.
        name = sock.getsockname()
        handle = partial(self.handle, name)
        own = IdleConnections() if self.wsgi.is_telemetry(name) else None
        if own is not None:
            self._own_idle[name] = own
        tls = {"ssl_context": ssl_context(self.cfg)} if self.cfg.is_ssl else {}
        made = Listener(sock, handle, Pool(self.worker_connections), admission, own, **tls)
        if self.cfg.workers > 1:
            made.max_accept = 1  # so that the workers share what comes at once
        return made

    def _no_room(self, address: Any) -> bytes:
        """What a caller is told for whom there is no room."""
        name = new_request_id()
        self._note_refusal(name, 503, address)
        return _refusal(503, "Service Unavailable", name, file_descriptors.too_many_connections())

    def _end_requests(self, pools: list[Pool]) -> None:
        """Let requests end until their deadline, then end them (see `engine.server.shutdown`)."""
        if self._deadlines is _NEVER:  # no signal, but `max_requests`
            self._stop(self.cfg.graceful_timeout)
        self._join(pools, lambda known: known.interrupt)
        if any(pools):
            self.wsgi.interrupt()
            self._join(pools, lambda known: known.cut)
        for pool in pools:
            pool.kill(timeout=_LAST_KILL)

    def _join(self, pools: list[Pool], until: Callable[[ShutdownDeadlines], float]) -> None:
        """Wait for the end of all connections, at most until that deadline, which may change."""
        for pool in pools:
            while pool and (left := until(self._deadlines) - time.monotonic()) > 0:
                self.notify()
                pool.join(min(left, _LOOK))

    def init_signals(self) -> None:
        super().init_signals()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def handle(self, server: Any, client: Any, addr: Any) -> None:
        """Answer the requests of a connection to the address `server`, and end it."""
        client.setblocking(1)
        if type(client) is gevent.socket.socket:
            client.__class__ = _Direct
        requests = Requests(self.cfg, client, addr)
        try:
            self._serve(requests, server, client, addr)
        except errors.NoMoreData:
            self.log.debug("a caller left in the middle of a request")
        except _BADLY_FRAMED:
            self.log.info("what follows a request is not framed as its headers say")
        except OSError as error:
            if error.errno not in _CALLER_LEFT:
                self.log.exception("a connection broke")
        except Exception as error:  # noqa: BLE001 - it is logged there, and answered
            self.handle_error(requests.mesg, client, addr, error)
        finally:
            self._own_idle.get(server, self._idle).remove(client)
            util.close(client)

    def _serve(self, requests: Requests, server: Any, client: Any, addr: Any) -> None:
        idle = self._own_idle.get(server, self._idle)
        while True:
            idle.add(client)
            try:
                request = next(requests)
            except StopIteration:
                return
            idle.remove(client)
            if not self.handle_request(server, request, client, addr):
                return

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM: requests may go on until their deadline. A master repeats it."""
        if self._deadlines is _NEVER:
            self._stop(self.cfg.graceful_timeout)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """SIGINT and SIGQUIT: requests end now, and are written down all the same."""
        self._stop(0.0)

    def _stop(self, grace: float) -> None:
        connections = self._admission.connected if self._admission is not None else 0
        now, seconds = time.monotonic(), deadlines(grace, connections)
        cut = max(seconds.cut, _SHORTEST)
        self._deadlines = ShutdownDeadlines(now + seconds.interrupt, now + cut)
        self.alive = False
        if self._loaded:
            self.wsgi.leaving()
        if self._stopping is not None:
            self._stopping.set()

    def notify(self) -> None:
        """Once a second, and oftener while the last requests end: tell the master that the worker
        lives, and close connections that have been idle for too long."""
        self.tmp.notify()
        if self.alive and self.ppid != os.getppid():
            self.log.error("the master is gone: worker %s ends its requests and stops", self.pid)
            self._stop(self.cfg.graceful_timeout)
        patience = self.cfg.keepalive
        if not self.alive:  # a request may be on its way, and is served as long as there is time
            early = time.monotonic() < self._deadlines.interrupt
            patience = min(patience, _LAST_REQUEST) if early else 0
        for idle in (self._idle, *self._own_idle.values()):
            idle.close(patience)
        if self.alive and self._admission is not None:
            self._admission.make_room()

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> bool:
        """Answer one request. Whether the connection can carry another."""
        out = Outgoing(req, sock, self.cfg)
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if not self.alive or not self.cfg.keepalive:
            out.force_close()
        try:
            environ = environ_of(self._base, req, sock, addr, listener_name)
            awaited = "HTTP_EXPECT" in environ and req.version == (1, 1)
            connection = WorkerConnection(req, sock, out, awaited)
            self._answer(self._application(listener_name), environ, connection, out)
        except TimeoutError as error:
            raise AbortConnection(
                AbortReason.CALLER_LEFT, "the caller does not read the response"
            ) from error
        except gevent.GreenletExit:
            return False
        except OSError:
            raise  # the caller left, or is to believe that the connection broke
        except Exception as error:
            self.log.error("an answer broke off", exc_info=error)
            if not out.headers_sent:  # its exchange has ended, and is noted
                self._send(sock, _refusal(500, "Internal Server Error", new_request_id()))
            return False
        return not out.should_close()

    def _application(self, listener_name: Any) -> Serve:
        """What serves the requests of a listener, by the name of its socket."""
        application = self._applications.get(listener_name)
        if application is None:
            application = self._applications[listener_name] = self.wsgi.on_listener(listener_name)
        return application

    def _answer(
        self, serve: Serve, environ: dict[str, Any], connection: WorkerConnection, out: Outgoing
    ) -> None:
        pieces = serve(environ, out.start_response, connection)
        try:
            for piece in pieces:
                out.write(piece)
            out.close()
        finally:
            if hasattr(pieces, "close"):
                pieces.close()

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what is no valid HTTP request, or failed before an answer began.

        The address is never logged: a token may stand in its query.
        """
        if isinstance(exc, errors.ParseException):
            self.log.info("not a valid HTTP request: %s", type(exc).__name__)
            status, reason = next((s, r) for kind, s, r in _STATUS if isinstance(exc, kind))
        else:
            self.log.error("a connection failed", exc_info=exc)
            status, reason = 500, "Internal Server Error"
        name = new_request_id()
        self._send(client, _refusal(status, reason, name))
        self._note_refusal(name, status, addr)

    def _send(self, client: Any, data: bytes) -> None:
        try:
            client.sendall(data)
        except OSError as error:
            self.log.debug("the caller had left: %s", error)

    def _note_refusal(self, name: str, status: int, addr: Any) -> None:
        self.wsgi.malformed(name, status, str(addr[0]) if isinstance(addr, tuple) else "")


class _Direct(gevent.socket.socket):
    """A caller's socket that sends what fits at once, without asking for its buffer's size."""

    __slots__ = ()  # it takes the place of a socket that is made already

    _sock: Any
    timeout: float | None

    def settimeout(self, howlong: float | None) -> None:
        self.timeout = howlong

    def send_some(self, data: bytes) -> int:
        """How much of it could be sent at once. Why there is not more, `sendall` will tell."""
        try:
            return int(self._sock.send(data))
        except OSError:
            return 0

    def sendall(self, data: Any, flags: int = 0) -> None:
        try:
            sent = self._sock.send(data, flags)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            super().sendall(memoryview(data)[sent:], flags)


class _Settled:
    """gunicorn's settings as they are once a worker runs: each is looked up once."""

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(self._cfg, name)
        return value


def _refusal(status: int, reason: str, name: str, error: GatewayError | None = None) -> bytes:
    if error is None and status == 500:
        error = GatewayError(status, "internal_error", "The gateway failed on this request.")
    elif error is None:
        message = f"The request is not valid HTTP/1.1 ({reason})."
        error = GatewayError(status, "bad_request", message)
    body = orjson.dumps(dialects.default().error(error, name))
    headers = "".join(f"{key.title()}: {value}\r\n" for key, value in error.headers)
    head = (
        f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"X-Request-Id: {name}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

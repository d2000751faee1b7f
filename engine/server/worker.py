"""The worker that `modelway serve` runs: gunicorn's gevent worker, with the gateway's own HTTP/1.1.

It refuses invalid requests with the error object instead of an HTML page, closes idle connections
when it stops, and ends requests before the master kills it. Of gunicorn's settings it ignores the
access log, the hooks around a request, HTTP/2, early hints and the PROXY protocol. `gunicorn -k
gevent` works as well, without these improvements.
"""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import ClassVar, NoReturn

import gevent
from gevent.event import Event
from gevent.pool import Pool
from gunicorn.sock import BaseSocket, ssl_context
from gunicorn.workers.ggevent import GeventWorker

from engine.edge.falcon_application import Application
from engine.process import file_descriptors
from engine.process.preemption import PREEMPTION
from engine.server.connection_admission import Admission, IdleConnections
from engine.server.connection_handler import (
    NOTHING_PASSES,
    ConnectionHandler,
    HTTPSettings,
    closing,
    ip_address,
)
from engine.server.environ import SchemeHeaders, worker_environ
from engine.server.gevent_patches import patching
from engine.server.http1.request import Limits
from engine.server.large_requests.pass_requests import Passing
from engine.server.listener import Accepting, Listener
from engine.server.serving_processes import ALONE, Role
from engine.server.shutdown import (
    DUMP_SIGNAL,
    MIN_GRACE,
    SIGNALS,
    ShutdownDeadlines,
    deadlines,
    master_listens,
)
from engine.server.sockets.caller_socket import GeventSocket
from engine.server.watchdog import TurnTimer, stack
from engine.values.errors import too_many_connections

WORKER_NAME = "modelway-worker"
_POLL_SECONDS = 0.25
_LAST_REQUEST = 1.0
"""The idle timeout in seconds of connections while the worker stops."""
_MIN_CUT = 1.0
"""The least time in seconds for callers to receive the end of their response."""
_KILL_TIMEOUT = 0.5
_NEVER = ShutdownDeadlines(math.inf, math.inf)


class Worker(GeventWorker):
    """gunicorn's gevent worker. Overrides public methods only; what a HeavyWorker does otherwise
    are public methods of this class. `process_name` is for `ps` and `top`.

    `deadlines` are those of its stop, on the monotonic clock. On SIGTERM a worker without a
    successor accepts connections for the delay of its application first.
    """

    serves_this_process: ClassVar = False
    process_name: ClassVar = WORKER_NAME
    app: object
    wsgi: Application
    _loaded = False
    _stopping: Event | None = None
    _admission: Admission | None = None
    _has_successor = True
    _passing: Passing = NOTHING_PASSES
    _accept_until = 0.0

    def __init__(self, *settings: object) -> None:
        super().__init__(*settings)
        self.deadlines = _NEVER
        self._keepalive = self.cfg.keepalive
        self._idle = IdleConnections()
        self._telemetry_idle = IdleConnections()  # the telemetry listener has its own connections
        self._handlers: dict[BaseSocket, ConnectionHandler] = {}
        self._turns = TurnTimer(self.cfg.timeout, self.tmp.notify, self._end_stuck_request)
        self.role: Role = getattr(self.app, "next_role", ALONE)

    def init_process(self) -> None:
        with suppress(OSError):  # not Linux
            Path("/proc/self/comm").write_text(self.process_name)
        Worker.serves_this_process = True
        self.keep_channel()
        if self.role.recorder is not None:
            self.role.recorder.keep_sending()
        cfg, limits = self.cfg, Limits()
        self._settings = HTTPSettings(
            Limits(
                cfg.limit_request_line or limits.request_line,
                cfg.limit_request_fields or limits.headers,
                cfg.limit_request_field_size or limits.header_size,
            ),
            SchemeHeaders(cfg.secure_scheme_headers, cfg.forwarded_allow_ips),
            worker_environ(self.role.workers)
            | {"wsgi.url_scheme": "https" if cfg.is_ssl else "http"},
        )
        file_descriptors.raise_limit(cfg.worker_connections)
        PREEMPTION.enable(cfg.timeout, self._end_stuck_request)
        gevent.config.track_greenlet_tree = False  # spawning is faster without it
        super().init_process()

    def keep_channel(self) -> None:
        """Keep the end of the channel to heavy workers that this process uses."""
        channel = self.role.channel
        if channel is not None:
            channel.keep_sending()
            if not self.cfg.is_ssl:  # the state of TLS cannot be passed
                self._passing = Passing(channel, self.role.above)

    def patch(self) -> None:
        """Apply gevent's patches, see `gevent_patches.py`."""
        with patching():
            super().patch()

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self._loaded = True

    def run(self) -> None:
        """Serve until a signal stops the worker. gunicorn's own method has no deadlines: requests
        continue until the master kills the worker, and it polls for their end once a second."""
        self._stopping = Event()
        admission = Admission(self.worker_connections, self._idle, self._refusal)
        listeners = self.open_listeners(admission)
        self._admission = admission
        self._turns.start()
        try:
            for listener in listeners:
                listener.start()
            while self.alive:
                self.notify()
                self._stopping.wait(1.0)
            self._shut_down(listeners)
        finally:
            self._turns.stop()
            if self._loaded:
                self.wsgi.close()

    def open_listeners(self, admission: Admission) -> Sequence[Accepting]:
        """What accepts connections; each has a pool of the admission."""
        return [self._listener(sock, admission) for sock in self.sockets]

    def _shut_down(self, listeners: Sequence[Accepting]) -> None:
        """Accept connections until the end of the delay, then finish the requests. Without a
        successor, the telemetry listener serves until the last request has ended."""
        if self.deadlines is _NEVER:  # no signal, but `max_requests`
            self._stop(self._grace)
        has_successor = self._has_successor
        while (seconds := self._accept_until - time.monotonic()) > 0:
            self.notify()
            gevent.sleep(min(seconds, _POLL_SECONDS))
        closing_first = [
            listener for listener in listeners if has_successor or not listener.is_telemetry
        ]
        for listener in closing_first:
            listener.end()
        self._end_requests([listener.connections for listener in closing_first])
        for listener in listeners:
            listener.end()
        self._telemetry_idle.close(0)
        for listener in listeners:
            listener.connections.join(_KILL_TIMEOUT)
            listener.connections.kill(timeout=_KILL_TIMEOUT)

    def _listener(self, sock: BaseSocket, admission: Admission) -> Listener:
        sock.setblocking(1)
        handler = self._handler(sock)
        idle = self._telemetry_idle if handler.idle is self._telemetry_idle else None
        tls = {"ssl_context": ssl_context(self.cfg)} if self.cfg.is_ssl else {}
        return Listener(sock, handler, Pool(self.worker_connections), admission, idle, **tls)

    def handle(self, listener: BaseSocket, client: GeventSocket, addr: object) -> None:
        """Serve a connection that this listening socket has accepted."""
        self._handler(listener)(client, addr)

    def _handler(self, listener: BaseSocket) -> ConnectionHandler:
        """The handler of a listening socket. Its address is read once, as the socket may be closed
        before its connections."""
        handler = self._handlers.get(listener)
        if handler is None:
            number = self.sockets.index(listener) if listener in self.sockets else 0
            handler = self.handler_at(listener.getsockname(), number)
            self._handlers[listener] = handler
        return handler

    def handler_at(self, address: object, number: int = 0) -> ConnectionHandler:
        """The handler of the listener at an address, and its number for heavy workers."""
        idle = self._telemetry_idle if self.wsgi.is_telemetry(address) else self._idle
        passing = self._passing if idle is self._idle else NOTHING_PASSES
        begin, settings = self._begin_request, self._settings
        return ConnectionHandler(
            self.wsgi, address, idle, settings, begin, self.log, passing, number
        )

    def _begin_request(self) -> bool:
        """Count a request. Whether its connection may carry another."""
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        return self.alive and bool(self._keepalive)

    def _refusal(self, address: object) -> bytes:
        """The 503 for a caller that is not admitted."""
        error = too_many_connections()
        return closing(self.wsgi.refuse(error, ip_address(address)))

    def _end_requests(self, pools: list[Pool]) -> None:
        """Wait for requests until their deadline, then end them (see `engine.server.shutdown`)."""
        self._join(pools, lambda deadlines: deadlines.interrupt)
        if any(pools) and self._loaded:
            self.wsgi.interrupt()
            self._join(pools, lambda deadlines: deadlines.cut)
            for pool in pools:
                pool.kill(timeout=_KILL_TIMEOUT)

    def _join(self, pools: list[Pool], until: Callable[[ShutdownDeadlines], float]) -> None:
        """Wait for the end of all connections, at most until that deadline, which may change."""
        for pool in pools:
            while pool and (seconds := until(self.deadlines) - time.monotonic()) > 0:
                self.notify()
                pool.join(min(seconds, _POLL_SECONDS))

    @property
    def _delay(self) -> float:
        application: Application | None = self.wsgi if self._loaded else None
        return application.delay if application is not None else 0.0

    @property
    def _grace(self) -> float:
        """The grace period in seconds: gunicorn's `graceful_timeout` less the delay."""
        period: float = self.cfg.graceful_timeout
        return max(period - self._delay, MIN_GRACE)

    def init_signals(self) -> None:
        super().init_signals()
        signal.set_wakeup_fd(-1)  # gunicorn's pipe, which nothing reads under gevent: it would fill
        # Written without the interpreter, as a worker may be stuck in C code.
        faulthandler.register(DUMP_SIGNAL, 2, all_threads=True)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM: requests may go on until their deadline. A master repeats it."""
        if self.deadlines is _NEVER:
            self.leave(has_successor=master_listens())

    def leave(self, *, has_successor: bool) -> None:
        """Stop when the requests have ended; without a successor, accept them for the delay."""
        self._has_successor = has_successor
        self._stop(self._grace, 0.0 if has_successor else self._delay)

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """SIGINT and SIGQUIT: requests end now, and are recorded all the same."""
        self._stop(0.0)

    def handle_abort(self, sig: int, frame: FrameType | None) -> None:
        """SIGABRT: the master finds that this worker is stuck."""
        self._end_stuck(frame, "it neither computes nor serves, or its master wants it to end")

    def _end_stuck_request(self, frame: FrameType | None) -> None:
        self._end_stuck(frame, f"one request has computed for {self.cfg.timeout:g} s")

    def _end_stuck(self, frame: FrameType | None, reason: str) -> NoReturn:
        """Stop at once, and free the event loop, so that streams get their error event and all
        requests their rows. Called by a signal in the greenlet that holds the loop."""
        self.log.critical(
            "worker %s is stuck and ends: %s; it stands at\n%s", self.pid, reason, stack(frame)
        )
        self._stop(0.0)
        raise gevent.GreenletExit

    def _stop(self, grace: float, delay: float = 0.0) -> None:
        connections = self._admission.connected if self._admission is not None else 0
        seconds = deadlines(grace, connections)
        self._accept_until = now = time.monotonic() + delay
        cut = max(seconds.cut, _MIN_CUT)
        self.deadlines = ShutdownDeadlines(now + seconds.interrupt, now + cut)
        self.alive = False
        if self._loaded:
            self.wsgi.leaving(self._has_successor)
        if self._stopping is not None:
            self._stopping.set()

    def notify(self) -> None:
        """Tell the master that the worker lives, and close connections that have been idle for too
        long: once a second, and more often while the last requests end."""
        self.tmp.notify()
        self._turns.turn()
        if self.alive and self.ppid != os.getppid():
            self.log.error("the master is gone: worker %s ends its requests and stops", self.pid)
            self._stop(self._grace)
        seconds = self._keepalive
        if not self.alive and time.monotonic() >= self._accept_until:
            # A request may be on its way: it is served until the deadline `interrupt`.
            before_interrupt = time.monotonic() < self.deadlines.interrupt
            seconds = min(seconds, _LAST_REQUEST) if before_interrupt else 0
        for idle in (self._idle, self._telemetry_idle):
            idle.close(seconds)
        if self.alive and self._admission is not None:
            self._admission.make_room()

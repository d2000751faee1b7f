"""A listening socket of a worker: it accepts what `connection_admission.py` admits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import gevent
from gevent.pool import Pool
from gevent.server import StreamServer

from engine.process import file_descriptors
from engine.server.connection_admission import Admission, IdleConnections

_PAUSE = 0.05
"""Seconds without accepting connections, once no descriptor is left."""


class Accepting(Protocol):
    """What a worker gets its connections or requests from: `start` begins, `end` takes what waits
    and then no more. `connections` holds the greenlets."""

    connections: Pool

    @property
    def is_telemetry(self) -> bool: ...
    def start(self) -> None: ...
    def end(self) -> None: ...


class Listener(StreamServer):
    """gevent's server on a listening socket, with `admission`. `idle` is given for the telemetry
    listener, which has reserved descriptors."""

    max_accept = 1
    """Connections of one turn of the loop: of very many that come at once, other workers take some,
    and callers that are served already have turns between them."""

    def __init__(
        self,
        sock: Any,
        handle: Callable[..., None],
        pool: Pool,
        admission: Admission,
        idle: IdleConnections | None = None,
        **tls: Any,
    ) -> None:
        super().__init__(sock, handle=handle, spawn=pool, **tls)
        self._admission = admission
        admission.pools.append(pool)
        self.connections, self._idle = pool, idle

    @property
    def is_telemetry(self) -> bool:
        """Whether it is the telemetry listener."""
        return self._idle is not None

    def end(self) -> None:
        """Serve the connections that wait to be accepted, and accept no more."""
        while self.started and not self.full() and (accepted := self.do_read()) is not None:
            self.do_handle(*accepted)
        self.close()

    def do_read(self) -> Any:
        """Accept a connection: its socket and address, or None if none is to be served."""
        try:
            accepted = super().do_read()
        except OSError as error:
            if not file_descriptors.is_exhausted(error):
                raise
            file_descriptors.warn_exhausted()
            self.stop_accepting()
            gevent.spawn_later(_PAUSE, self._resume)
            return None
        if accepted is not None and not self._admission.admits(self.connections, self._idle):
            self._admission.refuse(*accepted)
            return None
        return accepted

    def _resume(self) -> None:
        if self.started:
            self.start_accepting()

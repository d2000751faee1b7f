"""The heavy worker: it serves the requests that workers pass, and accepts no connections."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType

from gevent.pool import Pool
from gunicorn.errors import AppImportError

from engine.process import file_descriptors
from engine.process.preemption import PREEMPTION
from engine.server.connection_handler import ConnectionHandler
from engine.server.heavy.listener import HeavyListener
from engine.server.listener import Admission
from engine.server.worker import Worker

HEAVY_NAME = "modelway-heavy"
"""The name of its process, for `ps` and `top`."""


class HeavyWorker(Worker):
    """A worker for requests with large bodies. It makes its application for its first request, as
    most of its memory is that."""

    def init_process(self) -> None:
        with suppress(OSError):  # not Linux
            Path("/proc/self/comm").write_text(HEAVY_NAME)
        PREEMPTION.enable(self.cfg.timeout, self._end_stuck_request)
        super().init_process()

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

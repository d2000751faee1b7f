"""Running an application under gunicorn with gevent workers, from code."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from engine.config.model import Server


class Master(Arbiter):  # type: ignore[misc]
    """gunicorn's master, which loses no signal to a worker.

    A worker has its master's handlers until it has set its own: a SIGTERM that came before that
    would be lost, and a reload would wait for that worker as long as the grace. So it is held back
    over the fork; `engine.worker.Worker` lets it through when it is ready. SIGHUP changes nothing
    when the application does not `renew`; it may also say by itself that it has `changed`.
    """

    def handle_hup(self) -> None:
        if self.app.renew():
            super().handle_hup()

    def manage_workers(self) -> None:
        """gunicorn calls this about once a second."""
        super().manage_workers()
        if self.app.changed():
            self.handle_hup()

    def spawn_worker(self) -> Any:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            return super().spawn_worker()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


class Gunicorn(BaseApplication):  # type: ignore[misc]
    """gunicorn's master: `build` makes the application in each worker, after the fork. `form` is
    how it writes its own log."""

    def __init__(
        self,
        server: Server,
        build: Callable[[], Any],
        ready: Callable[[], None] | None = None,
        form: logging.Formatter | None = None,
    ) -> None:
        self._form = form
        self.server = server
        self._build = build
        self._ready = ready
        super().__init__()

    def run(self) -> None:
        """Serve until a signal ends it. Exits with one line if it cannot listen."""
        if (why := taken(self.server.listen)) is not None:
            sys.exit(f"modelway: {why}; choose another address, or end what listens there")
        Master(self).run()

    def load_config(self) -> None:
        for name, value in settings(self.server).items():
            self.cfg.set(name, value)
        if self._form is not None:
            self.cfg.set("logger_class", type("Log", (_Log,), {"form": self._form}))
        if self._ready is not None:
            ready = self._ready
            self.cfg.set("when_ready", lambda arbiter: ready())

    def load(self) -> Any:
        return self._build()

    def renew(self) -> bool:
        """Whether new workers are to take over, on a SIGHUP."""
        return True

    def changed(self) -> bool:
        """Whether that is to happen without one."""
        return False


class _Log(Logger):  # type: ignore[misc]
    """gunicorn's own log, written as ours."""

    form: logging.Formatter

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(self.form)


def taken(listen: str) -> str | None:
    """Why an address cannot be listened on, in words, or None."""
    host, _, port = listen.rpartition(":")
    if listen.startswith("unix:") or not port.isdigit():
        return None
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, int(port)))
        except OSError as error:
            return f"cannot listen on {listen}: {error.strerror}"
    return None


def settings(server: Server) -> dict[str, Any]:
    """gunicorn's settings for ours.

    Header names with underscores are refused: they would be taken for those with hyphens. What
    proxies say is for us to believe or not (`server.trusted_proxies`).
    """
    return {
        "bind": [server.listen],
        "workers": server.workers,
        "worker_class": "engine.worker.Worker",
        "worker_connections": server.connections,
        "keepalive": int(server.keepalive),
        "graceful_timeout": int(server.grace),
        "http_parser": "fast",
        "header_map": "refuse",
        "forwarded_allow_ips": "",
        "limit_request_line": 8190,
        "limit_request_fields": 100,
        "limit_request_field_size": 16_380,
        "loglevel": "warning",
        "proc_name": "modelway",
        "control_socket_disable": True,
    }

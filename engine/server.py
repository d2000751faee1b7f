"""Running an application under gunicorn with gevent workers, from code."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

from engine.config.model import Server


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
        self._server = server
        self._build = build
        self._ready = ready
        super().__init__()

    def run(self) -> None:
        """Serve until a signal ends it. Exits with one line if it cannot listen."""
        if (why := taken(self._server.listen)) is not None:
            sys.exit(f"modelway: {why}; choose another address, or end what listens there")
        super().run()

    def load_config(self) -> None:
        for name, value in settings(self._server).items():
            self.cfg.set(name, value)
        if self._form is not None:
            self.cfg.set("logger_class", type("Log", (_Log,), {"form": self._form}))
        if self._ready is not None:
            ready = self._ready
            self.cfg.set("when_ready", lambda arbiter: ready())

    def load(self) -> Any:
        return self._build()


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

    Header names with underscores are refused: they would be taken for those with hyphens.
    """
    return {
        "bind": [server.listen],
        "workers": server.workers,
        "worker_class": "engine.worker.Worker",
        "worker_connections": server.connections,
        "keepalive": int(server.keepalive),
        "graceful_timeout": int(server.grace),
        "header_map": "refuse",
        "limit_request_line": 8190,
        "limit_request_fields": 100,
        "limit_request_field_size": 16_380,
        "loglevel": "warning",
        "proc_name": "modelway",
        "control_socket_disable": True,
    }

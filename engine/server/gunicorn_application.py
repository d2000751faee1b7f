"""Runs an application under gunicorn with the gateway's workers, from code."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Sequence

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.errors import AppImportError
from gunicorn.glogging import Logger
from gunicorn.sock import BaseSocket

from engine.config.server import Server
from engine.edge.falcon_application import Application
from engine.plan.plan import CannotServe
from engine.process import runtime_dir
from engine.server.boot_pipe import BootPipe
from engine.server.master import Master
from engine.server.master_state import WorkerState
from engine.server.recorder_process import Run
from engine.server.serving_processes import ALONE
from engine.server.shutdown import MIN_GRACE
from engine.server.sockets.listening_sockets import (
    NO_SOCKETS,
    ListeningSockets,
    PassedSockets,
    exit_if_unavailable,
    listen_addresses,
)


class GunicornApplication(BaseApplication):
    """gunicorn's application object: `build` makes the WSGI application in each worker, after the
    fork; `ready` is called when the master listens; `formatter` formats gunicorn's log."""

    def __init__(
        self,
        server: Server,
        build: Callable[[], Application],
        ready: Callable[[], None] | None = None,
        formatter: logging.Formatter | None = None,
        telemetry: str = "",
        passed: PassedSockets = NO_SOCKETS,
    ) -> None:
        """`telemetry` is the address of the listener for metrics and health, "" for none; `passed`
        are sockets that listen already."""
        self._formatter = formatter
        self._passed = passed
        self.sockets = ListeningSockets(passed)
        self.server = server
        self.telemetry = telemetry
        self._build = build
        self._ready = ready
        self.boots = BootPipe()
        self.next_role = ALONE
        super().__init__()

    def run(self) -> None:
        """Serve until a signal ends it. Exits with one line if it cannot listen."""
        exit_if_unavailable(self.addresses(), self._passed, self.server.reuse_port)
        runtime_dir.use_for_temporary_files()
        Master(self).run()

    def addresses(self) -> dict[str, str]:
        """The addresses to listen on, by their keys in the config."""
        return listen_addresses(self.server.listen, self.telemetry)

    @property
    def recorder(self) -> Run | None:
        """What the recorder of the config does, None if the config needs none."""
        return None

    @property
    def delay(self) -> float:
        """Seconds for which workers accept connections when the master stops."""
        return self.server.delay

    def listen(self, before: Sequence[BaseSocket], log: Logger) -> list[BaseSocket]:
        """The sockets of all addresses: those that are open, and new ones for the rest. Exits if
        one cannot be opened."""
        listening = {_normal(listener.cfg_addr): listener for listener in before}
        addresses = dict(zip(self.addresses().values(), self.cfg.address, strict=True))
        new = [bind for bind, address in addresses.items() if _normal(address) not in listening]
        reused = {self.server.listen} if self.server.reuse_port else set()
        for listener in self.sockets.open(new, reused, log):
            listening[_normal(listener.cfg_addr)] = listener
        return [listening[_normal(address)] for address in addresses.values()]

    def load_config(self) -> None:
        for name, value in settings(self.server).items():
            self.cfg.set(name, value)
        self.cfg.set("bind", list(self.addresses().values()))
        if self._formatter is not None:
            self.cfg.set("logger_class", type("Log", (_Log,), {"formatter": self._formatter}))
        if self._ready is not None:
            ready = self._ready
            self.cfg.set("when_ready", lambda arbiter: ready())
        self.cfg.set("on_starting", self._start_to_listen)
        self.cfg.set("post_fork", lambda arbiter, worker: arbiter.leave_to_master())
        self.cfg.set("post_worker_init", lambda worker: self.boots.tell_booted(worker.age))

    def _start_to_listen(self, arbiter: Arbiter) -> None:
        """gunicorn calls this before it would open the sockets itself."""
        arbiter.LISTENERS = self.listen((), arbiter.log)

    def load(self) -> Application:
        """The application, in a worker. If a required store cannot be reached, gunicorn logs one
        line (its AppImportError) without a traceback."""
        try:
            return self._build()
        except (CannotServe, OSError) as error:
            self.boots.tell_failed(str(error))
            raise AppImportError(f"modelway: {error}") from error
        except Exception as error:
            self.boots.tell_failed(f"{type(error).__name__}: {error}")
            raise

    def renew(self) -> bool:
        """Whether new workers are to take over, on a SIGHUP."""
        return True

    def changed(self) -> bool:
        """Whether new workers are to take over without a SIGHUP."""
        return False

    @property
    def config(self) -> str:
        """The hash of the config that new workers serve, "" if there is none."""
        return ""

    def report(self, workers: Sequence[WorkerState]) -> None:
        """Take the states of the workers; called about once a second."""

    def interrupt(self) -> None:
        """End `renew` and `changed` soon: a signal ends the master. Its handler calls this."""

    def confirm(self) -> None:
        """The new workers serve."""

    def revert(self, reason: str) -> None:
        """The new workers cannot serve: go back to the previous config."""


def _normal(address: object) -> object:
    """An address for comparison: a path may be written in several ways."""
    return os.path.normpath(address) if isinstance(address, str) else address


class _Log(Logger):
    """gunicorn's log, in the format of the gateway's log."""

    formatter: logging.Formatter

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(self.formatter)


def settings(server: Server) -> dict[str, object]:
    """gunicorn's settings for those of the config.

    gunicorn itself trusts no proxy: the gateway applies `server.trusted_proxies`. Raises
    NoWritableFolder.
    """
    return {
        "bind": [server.listen],
        "workers": server.workers + server.heavy_processes,
        "worker_class": "engine.server.worker.Worker",
        "worker_connections": server.connections,
        "keepalive": int(server.keepalive),
        "timeout": math.ceil(server.stuck_after),
        "graceful_timeout": max(math.ceil(server.delay + server.grace), MIN_GRACE),
        "forwarded_allow_ips": "",
        "limit_request_line": 8190,
        "limit_request_fields": 100,
        "limit_request_field_size": 16_380,
        "loglevel": "warning",
        "proc_name": "modelway",
        "worker_tmp_dir": str(runtime_dir.base()),
        "control_socket_disable": True,
    }

"""The interface between a master and the application whose workers it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gunicorn.glogging import Logger
from gunicorn.sock import BaseSocket

from engine.config.server import Server
from engine.server.boot_pipe import BootPipe
from engine.server.master_state import WorkerState
from engine.server.recorder_process import Run
from engine.server.serving_processes import Role
from engine.server.sockets.listening_sockets import ListeningSockets


class ReloadableApp(Protocol):
    """The application of a gunicorn whose workers can be replaced: a `GunicornApplication`."""

    boots: BootPipe
    sockets: ListeningSockets
    server: Server
    next_role: Role

    @property
    def recorder(self) -> Run | None: ...
    @property
    def delay(self) -> float: ...
    @property
    def config(self) -> str: ...
    def report(self, workers: Sequence[WorkerState]) -> None: ...
    def listen(self, before: Sequence[BaseSocket], log: Logger) -> list[BaseSocket]: ...
    def reload(self) -> None: ...
    def renew(self) -> bool: ...
    def changed(self) -> bool: ...
    def interrupt(self) -> None: ...
    def confirm(self) -> None: ...
    def revert(self, reason: str) -> None: ...

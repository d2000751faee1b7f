"""The application of a master that reloads, and the marks of its workers, without any process."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.server import Server
from engine.server.gunicorn_application import GunicornApplication


@dataclass
class Mark:
    """The file of a worker whose times tell its master that it goes on."""

    time: float

    def last_update(self) -> float:
        return self.time


BOOTING = 1e9
"""The mark of a worker that does not serve yet."""


class App(GunicornApplication):
    """An application that agrees to reload, and notes that it is interrupted."""

    renews = True
    has_changed = False

    def __init__(self, server: Server | None = None) -> None:
        server = server or Server(workers=1, delay=5.0, grace=2.0, heavy_processes=0)
        super().__init__(server, object)
        self.interrupts: list[str] = []

    def renew(self) -> bool:
        return self.renews

    def changed(self) -> bool:
        return self.has_changed

    def interrupt(self) -> None:
        self.interrupts.append("interrupt")

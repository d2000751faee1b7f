"""gunicorn's master without processes: what a command would serve."""

from __future__ import annotations

from typing import Any

import pytest

from engine.server.master import Gunicorn


def start_in_process(monkeypatch: pytest.MonkeyPatch) -> list[Gunicorn]:
    """Let masters announce that they are ready and end, instead of serving; they are listed."""
    masters: list[Gunicorn] = []

    def run(master: Gunicorn) -> None:
        masters.append(master)
        master.cfg.when_ready(master)

    monkeypatch.setattr(Gunicorn, "run", run)
    return masters


def application(master: Gunicorn) -> Any:
    """The application that its workers would build."""
    return master.load()

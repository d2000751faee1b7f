"""gunicorn's master without processes: what a command would serve."""

from __future__ import annotations

from typing import Any

import pytest

from engine.server.gunicorn_application import GunicornApplication


def start_in_process(monkeypatch: pytest.MonkeyPatch) -> list[GunicornApplication]:
    """Let masters announce that they are ready and end, instead of serving; they are listed."""
    masters: list[GunicornApplication] = []

    def run(master: GunicornApplication) -> None:
        masters.append(master)
        master.cfg.when_ready(master)

    monkeypatch.setattr(GunicornApplication, "run", run)
    return masters


def application(master: GunicornApplication) -> Any:
    """The application that its workers would build."""
    return master.load()

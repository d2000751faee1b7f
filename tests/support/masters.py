"""gunicorn masters that serve nothing, to look at what a command would serve."""

from __future__ import annotations

from typing import Any

import pytest

from engine.server.gunicorn_application import GunicornApplication


def start_in_process(monkeypatch: pytest.MonkeyPatch) -> list[GunicornApplication]:
    """Replace `run` of masters: each announces that it is ready and returns. The list gets them."""
    masters: list[GunicornApplication] = []

    def run(master: GunicornApplication) -> None:
        masters.append(master)
        master.cfg.when_ready(master)

    monkeypatch.setattr(GunicornApplication, "run", run)
    return masters


def application(master: GunicornApplication) -> Any:
    """The application that its workers would build."""
    return master.load()

"""The project and the databases that commands are tried on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.support.commands import BAD, DOCUMENT, GOOD, UNWISE, modelway

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a config that is good, one that is bad and one unwise."""
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE", "NO_COLOR", "GUNICORN_CMD_ARGS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)
    for name, text in (("gateway", GOOD), ("bad", BAD), ("unwise", UNWISE)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory, without a config."""
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(name, raising=False)


def _token(url: str, *args: str, **more: Any) -> Result:
    return modelway("token", *args, "--database", url, **more)


@pytest.fixture
def on(records_url: str) -> Run:
    """The commands on a database of each kind."""
    return partial(_token, records_url)


@pytest.fixture
def local(tmp_path: Path) -> Run:
    """The commands on a SQLite file."""
    return partial(_token, f"sqlite:///{tmp_path}/x.db")

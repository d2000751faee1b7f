"""The recorder's side of the records."""

from __future__ import annotations

import pytest

from engine.callers.record_service import ping_within
from engine.stores.database.failures import DatabaseRefuses


def test_a_ping_says_why_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses() -> None:
        raise DatabaseRefuses("db: its disk is full")

    assert ping_within(lambda: 1) == ""
    assert ping_within(refuses) == "db: its disk is full"

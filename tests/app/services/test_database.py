"""The database of a config: made, migrated, filled, and what happens when it cannot be used."""

from __future__ import annotations

import sqlite3

import pytest

from engine.app.services.worker_services import prepare, services_of
from engine.callers.cache import TokenCache
from engine.plan.plan import CannotConnect, Plan
from engine.stores.counters.memory import MemoryCounters
from engine.stores.database.open_database import open_database
from tests.support.exchanges import new_exchange
from tests.support.tcp_proxy import TcpProxy


def end(services, name: str) -> None:
    """An exchange ends."""
    exchange = new_exchange("GET", "/", "", {}, name, operation="shop.listItems")
    for observer in services.observers:
        observer(exchange)


def test_a_database_is_created_and_gets_the_ledger(config, opened, tmp_path):
    settings = config("stores: {records: 'sqlite:///deep/er/records.db', journal: deep/journal}\n")
    assert prepare(settings) == ""
    services = opened(settings)
    assert isinstance(services.tokens, TokenCache)
    assert isinstance(services.counters, MemoryCounters)  # its tokens may have limits at any time
    end(services, "req_1")
    services.close()
    with sqlite3.connect(tmp_path / "deep/er/records.db") as connection:
        assert connection.execute("SELECT id FROM usage").fetchall() == [("req_1",)]
    connection.close()
    assert (tmp_path / "deep/er/records.db").stat().st_mode & 0o077 == 0
    assert list((tmp_path / "deep/journal").glob("*.jsonl")) == []


def test_a_database_that_is_away_is_warned_of(config):
    url = "postgresql+psycopg://me:very-secret@127.0.0.1:1/none"
    warning = prepare(config(f"stores: {{records: '{url}'}}\n"))
    assert "the database is unavailable" in warning
    assert "127.0.0.1:1" in warning
    assert "very-secret" not in warning


def test_tables_are_made_when_a_database_comes_later(config, opened, tmp_path, postgres):
    settings = config(f"stores: {{records: '{postgres.emptied()}'}}\n")
    services = opened(settings)  # nobody has prepared it
    end(services, "req_1")
    services.close()
    database = open_database(postgres.url)
    rows = database.read(lambda c: c.exec_driver_sql("SELECT id FROM usage").fetchall())
    database.close()
    assert [tuple(row) for row in rows] == [("req_1",)]


def test_a_worker_is_ready_without_a_database_that_answered_a_lookup(config, opened, postgres):
    """Also one that no load balancer asked before the database went away."""
    ready = []
    for uses_token in (True, False):
        proxy = TcpProxy(postgres.port)
        url = postgres.emptied().replace(f":{postgres.port}/", f":{proxy.port}/")
        settings = config(f"stores: {{records: '{url}'}}\n")
        prepare(settings)
        services = opened(settings)
        if uses_token:
            assert services.tokens.get("0" * 64) is None
        proxy.close()
        ready.append(services.health.ready())
    assert ready == [True, False]


def test_a_newer_database_is_refused(config, tmp_path):
    settings = config("stores: {records: 'sqlite:///records.db'}\n")
    prepare(settings)
    with sqlite3.connect(tmp_path / "records.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(CannotConnect, match=r"made by a newer Modelway .* run that version"):
        prepare(settings)


def test_a_file_that_is_not_a_database_is_refused(config, tmp_path):
    (tmp_path / "records.db").write_text("not a database, " * 100)
    with pytest.raises(CannotConnect, match="no SQLite database"):
        prepare(config("stores: {records: 'sqlite:///records.db'}\n"))


def test_a_journal_that_cannot_be_kept_is_refused(config, tmp_path):
    (tmp_path / "file").write_text("")
    settings = config("stores: {records: 'sqlite:///records.db', journal: file/journal}\n")
    with pytest.raises(CannotConnect, match=r"stores\.journal"):
        prepare(settings)  # in the master already, before anything is served
    with pytest.raises(CannotConnect, match=r"stores\.journal"):
        services_of(Plan(settings, ()))

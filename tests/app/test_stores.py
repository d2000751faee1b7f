"""The stores a config asks for, and what happens when one cannot be used."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from engine.app.stores import (
    CannotConnect,
    is_metered,
    prepare,
    services_of,
)
from engine.callers.cache import TokenCache
from engine.plan.make import make_plan
from engine.stores.counters.fallback import FallbackCounters
from engine.stores.counters.memory import MemoryCounters
from engine.stores.counters.redis import RedisCounters
from engine.stores.records.database import open_database
from engine.values.caller import digest
from tests.support.exchanges import new_exchange
from tests.support.running import ALL
from tests.support.small import project

RATED = """
  - {name: rated, sha256: %s, rate: 1/1m}
""" % ("a" * 64)


OFF = "telemetry: {access_log: {format: 'off'}, metrics: false}\n"


@pytest.fixture
def config(tmp_path):
    def make(more):
        path = tmp_path / "gateway.yaml"
        text = project(tmp_path, "http://127.0.0.1:9", {"chat": "[]"}, more=more)
        path.write_text(text.replace("{listen}", "127.0.0.1:1"))
        planned = make_plan(path, {})
        assert planned.plan is not None, planned.findings.errors
        return planned.plan.config

    return make


@pytest.fixture
def opened():
    """Services that are closed in the end."""
    opened_services = []

    def make(config):
        services = services_of(config)
        opened_services.append(services)
        return services

    yield make
    for services in opened_services:
        services.close()


def test_without_stores_there_is_nothing_but_the_tokens(config, opened):
    settings = config("")
    assert prepare(settings) == ""
    services = opened(settings)
    assert services.tokens.get(digest(ALL)).name == "everything"
    assert (services.counters, list(services.observers)) == (None, [])
    assert not services.allow_uncounted


def end(services, name: str) -> None:
    """An exchange ends."""
    exchange = new_exchange("GET", "/", "", {}, name, operation="shop.listItems")
    for observer in services.observers:
        observer(exchange)


@pytest.mark.parametrize(
    "more",
    ["policies: [{rate_limit: {requests: 1, per: 1m}}]\n", RATED],
)
def test_what_is_limited_is_counted_in_memory(config, opened, more):
    assert isinstance(opened(config(more)).counters, MemoryCounters)


def test_policies_that_count_nothing_need_no_counters(config, opened):
    assert opened(config("policies: [{max_body: 1KB}]\n")).counters is None


def test_redis_is_not_asked_before_a_request_is(config, opened):
    more = "stores: {counters: 'redis://127.0.0.1:1/0', on_store_failure: deny}\n"
    services = opened(config(more + "policies: [{concurrency: {requests: 1}}]\n"))
    assert isinstance(services.counters, RedisCounters)
    assert not services.allow_uncounted


@pytest.mark.parametrize(
    ("settings", "kind", "allows"),
    [
        ("", FallbackCounters, False),
        (", on_store_failure: local, machines: 2", FallbackCounters, False),
        (", on_store_failure: allow", RedisCounters, True),
        (", on_store_failure: deny", RedisCounters, False),
    ],
)
def test_what_decides_while_redis_does_not_answer(config, opened, settings, kind, allows):
    more = f"stores: {{counters: 'redis://127.0.0.1:1/0'{settings}}}\n"
    services = opened(config(more + "policies: [{concurrency: {requests: 1}}]\n"))
    assert (type(services.counters), services.allow_uncounted) == (kind, allows)


def test_a_database_is_made_and_has_what_happens(config, opened, tmp_path):
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


def test_a_newer_database_is_refused(config, tmp_path):
    settings = config("stores: {records: 'sqlite:///records.db'}\n")
    prepare(settings)
    with sqlite3.connect(tmp_path / "records.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(CannotConnect, match=r"made by a newer Modelway .* run that version"):
        prepare(settings)


def test_what_is_no_database_is_refused(config, tmp_path):
    (tmp_path / "records.db").write_text("not a database, " * 100)
    with pytest.raises(CannotConnect, match="no SQLite database"):
        prepare(config("stores: {records: 'sqlite:///records.db'}\n"))


def test_a_journal_that_cannot_be_kept_is_refused(config, tmp_path):
    (tmp_path / "file").write_text("")
    settings = config("stores: {records: 'sqlite:///records.db', journal: file/journal}\n")
    for opening in (prepare, services_of):  # in the master already, before anything is served
        with pytest.raises(CannotConnect, match=r"stores\.journal"):
            opening(settings)


def test_a_folder_of_counters_that_is_not_ours_is_refused(config, monkeypatch, tmp_path):
    def foreign(config: Path) -> Path:
        folder = tmp_path / "open"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        return folder

    monkeypatch.setattr("engine.app.stores.runtime_directory", foreign)
    with pytest.raises(CannotConnect, match="limits cannot be counted"):
        services_of(config("policies: [{concurrency: {requests: 1}}]\n"))


@pytest.mark.parametrize(
    ("more", "metered"),
    [
        ("", True),  # the access log and the metrics tell of it
        (OFF, False),
        (OFF + "policies: [{max_body: 1KB}]\n", False),
        (OFF + "policies: [{concurrency: {requests: 1}}]\n", True),
        (OFF + "stores: {records: 'sqlite:///records.db'}\n", True),
        ("telemetry: {access_log: {format: 'off'}}\n", True),
        ("telemetry: {metrics: false}\n", True),
    ],
)
def test_usage_is_read_where_somebody_is_to_know_it(config, more, metered):
    assert is_metered(config(more)) is metered

"""The records through a pooler in transaction mode, which shares sessions between its clients."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import text

from engine.stores.database.database import Database
from engine.stores.database.failures import DatabaseAway
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import totals
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry, decode, encode
from tests.support.pgbouncer import BINARY, WHY_NOT, pgbouncer
from tests.support.postgres import Postgres
from tests.support.release import Release

pytestmark = pytest.mark.skipif(BINARY is None, reason=WHY_NOT)


@pytest.fixture
def pooled(postgres: Postgres) -> Iterator[Database]:
    direct = postgres.fresh()
    with pgbouncer(postgres) as port:
        database = open_database(direct.replace(f":{postgres.port}/", f":{port}/"))
        yield database
        database.close()


def test_tables_are_created_and_rows_are_inserted_once_and_summed(pooled: Database) -> None:
    upgrade(pooled)
    table = UsageTable(pooled)
    entries = [Entry(id=f"req_{n}", time=time.time(), token="a", input=n) for n in range(100)]
    rows = [row for entry in entries if (row := decode(encode(entry))) is not None]
    assert [table.insert(rows), table.insert(rows)] == [100, 0]
    (total,) = totals(pooled, "token", UsageFilter(0, 1e12))
    assert (total.key, total.requests, total.usage.input) == ("a", 100, sum(range(100)))
    assert table.delete_before(1e12, limit=1000) == 100


def test_tables_of_the_release_are_migrated(pooled: Database) -> None:
    release = Release(pooled)
    release.create_tables()
    release.insert([Entry(id=f"req_{n}", time=n * 3600.0, token="a") for n in range(50)])
    upgrade(pooled)
    table = UsageTable(pooled)
    while table.fill():
        pass
    assert release.insert([Entry(id="req_0", time=0.0), Entry(id="new", time=7.0, token="a")]) == 1
    assert table.insert([Entry(id="late", time=6e9, token="a")]) == 1
    (total,) = totals(pooled, "token", UsageFilter(0, 1e12))
    assert (total.key, total.requests) == ("a", 52)


def test_each_statement_has_its_time_limit(pooled: Database) -> None:
    pooled.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
    for ask in (pooled.read, pooled.write):
        timeout = ask(lambda c: c.execute(text("SHOW statement_timeout")).scalar())
        assert timeout == "2s"
    with pytest.raises(DatabaseAway, match="statement timeout"):
        pooled.write(lambda connection: connection.exec_driver_sql("SELECT pg_sleep(30)"))
    assert pooled.read(lambda c: c.exec_driver_sql("SELECT 1").scalar()) == 1


def test_pooled_sessions_keep_no_setting_of_ours(pooled: Database) -> None:
    upgrade(pooled)
    totals(pooled, "token", UsageFilter(0, 1e12))
    url = pooled.engine.url
    with psycopg.connect(
        host="127.0.0.1", port=url.port, dbname=url.database, user="modelway", autocommit=True
    ) as other:
        timeout = other.execute("SHOW statement_timeout").fetchone()
    assert timeout == ("0",)

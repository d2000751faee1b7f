"""A primary that dies while rows are written, and a standby that is promoted."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select

from engine.stores.database import tokens
from engine.stores.database.failures import DatabaseAway
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import ledger
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import totals
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal
from engine.stores.ledger.journal_segments import files
from engine.stores.ledger.shipper import Shipper
from engine.stores.ledger.writer import LedgerWriter
from engine.stores.ledger_entry import Entry
from tests.support.journals import ENTRY
from tests.support.paths import ROOT
from tests.support.pgbouncer import BINARY, WHY_NOT, pgbouncer
from tests.support.postgres import running
from tests.support.records import select_one
from tests.support.waiting import until

ALL = UsageFilter(0.0, 1e12)


@pytest.fixture
def servers():
    """A primary with its tables, and its standby."""
    with running() as primary:
        database = open_database(primary.url)
        upgrade(database)
        database.close()
        with running(primary) as standby:
            primary.commit_with_standby()
            yield primary, standby


def hosts(*servers):
    addresses = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    return f"postgresql+psycopg://modelway@{addresses}/postgres"


def ids(database):
    return database.read(lambda c: list(c.execute(select(ledger.c.id)).scalars()))


def test_the_primary_is_found_whatever_the_order(servers):
    primary, standby = servers
    for url in (hosts(primary, standby), hosts(standby, primary)):
        database = open_database(url)
        assert UsageTable(database).insert([Entry(url, 1.0)]) == 1
        database.close()


def test_rows_in_flight_when_the_primary_dies_are_in_the_new_one_once(servers, tmp_path: Path):
    primary, standby = servers
    database = open_database(hosts(primary, standby))
    journal = Journal(tmp_path)
    shipper = Shipper(journal.folder, UsageTable(database), batch=20)
    ids_written, stop = [], threading.Event()

    def write():
        while not stop.is_set():
            entry = Entry(
                f"req_{len(ids_written)}", 1000.0 + len(ids_written), "a", cost=7, currency="USD"
            )
            journal.append(entry)
            journal.turn()
            ids_written.append(entry.id)
            time.sleep(0.001)
        journal.close()

    def is_away():
        try:
            shipper.round()
        except DatabaseAway:
            return True
        return False

    thread = threading.Thread(target=write)
    thread.start()
    try:
        until(lambda: not is_away() and shipper.shipped > 100, patience=60)
        killer = threading.Timer(0.05, primary.kill)
        killer.start()
        until(is_away, patience=60)
        killer.join()
        assert is_away()
        standby.promote()
        shipped = shipper.shipped
        until(lambda: not is_away() and shipper.shipped > shipped + 100, patience=60)
    finally:
        stop.set()
        thread.join()
    until(lambda: not is_away() and len(ids(database)) == len(ids_written), patience=60)
    shipper.close()
    assert files(tmp_path) == []
    assert sorted(ids(database)) == sorted(ids_written)
    (total,) = totals(database, "token", ALL)
    assert (total.requests, total.cost) == (len(ids_written), {"USD": 7 * len(ids_written)})
    database.close()


def test_tokens_are_looked_up_in_the_new_primary(servers):
    primary, standby = servers
    database = open_database(hosts(primary, standby))
    tokens.add(database, [tokens.Token("kept", "a" * 64, 1.0)])
    look_up = tokens.caller_lookup(database, "USD")
    assert look_up(["a" * 64])["a" * 64].name == "kept"
    primary.kill()
    standby.promote()
    assert look_up(["a" * 64])["a" * 64].name == "kept"
    database.close()


def test_a_standby_is_away_and_refuses_no_row(servers, tmp_path):
    _, standby = servers
    database = open_database(standby.url)
    writer = LedgerWriter(UsageTable(database), tmp_path / "refused.jsonl", 5.0)
    with pytest.raises(DatabaseAway, match="it is a standby"):
        writer.write([Entry("a", 1.0)])
    assert (writer.refusals, os.listdir(tmp_path)) == (0, [])
    standby.promote()
    assert writer.write([Entry("a", 1.0)]) == 1
    database.close()


def test_without_a_primary_the_message_says_so(servers):
    _, standby = servers
    database = open_database(hosts(standby, standby))
    with pytest.raises(DatabaseAway, match="no primary was found"):
        database.read(select_one)
    database.close()


def test_a_row_that_the_standby_does_not_have_is_not_shipped(servers):
    """At PostgreSQL's time limit, a commit that waits for its standby would succeed without it."""
    primary, standby = servers
    database, second_database = open_database(primary.url), open_database(primary.url)
    new = []
    thread = threading.Thread(target=lambda: new.append(UsageTable(database).insert([ENTRY])))

    def waits():
        query = (
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE wait_event = 'SyncRep' AND now() - query_start > interval '3 seconds'"
        )
        return second_database.read(lambda c: c.exec_driver_sql(query).scalar()) == 1

    with standby.paused():
        thread.start()
        until(waits, patience=60)
        assert new == []
    thread.join()
    assert new == [1]
    second_database.close()
    database.close()


@pytest.mark.skipif(BINARY is None, reason=WHY_NOT)
def test_rows_arrive_in_the_new_primary_through_poolers(servers, tmp_path):
    """One pooler on each machine of a server; its clients stay connected when the server goes."""
    primary, standby = servers
    with pgbouncer(standby) as second, pgbouncer(primary) as first:
        url = f"postgresql+psycopg://modelway@127.0.0.1:{second},127.0.0.1:{first}/postgres"
        command = [sys.executable, "-m", "tests.support.ledger_worker", str(tmp_path), url, "w"]
        database = open_database(standby.url)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as worker:
            until(lambda: len(ids(database)) > 100, patience=60)
            primary.kill()
            standby.promote()
            count = len(ids(database))
            until(lambda: len(ids(database)) > count + 100, patience=60)
            worker.kill()
            written = set(worker.stdout.read().split())
        shipper = Shipper(tmp_path, UsageTable(database))
        until(lambda: shipper.round() or files(tmp_path) == [], patience=60)
        shipper.close()
        assert len(set(ids(database))) == len(ids(database))
        assert written <= set(ids(database))
        (total,) = totals(database, "token", ALL)
        assert total.requests == len(ids(database))
        database.close()

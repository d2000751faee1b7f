"""Workers killed in mid-write, databases stopped, paused and crashed: each row arrives, once."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine, select

from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import usage
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal_segments import files
from engine.stores.ledger.shipper import Shipper
from tests.support.paths import ROOT
from tests.support.waiting import until

DEADLINE = 80.0


class Worker:
    """A process that appends and ships; `ids` are those whose `append` has returned."""

    def __init__(self, folder, url, name):
        command = [sys.executable, "-m", "tests.support.ledger_worker", str(folder), url, name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        self.ids: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                self.ids.append(line.decode().strip())

    def wait_for_rows(self, more):
        """Wait until it has written so many rows more."""
        expected = len(self.ids) + more
        until(lambda: len(self.ids) >= expected, patience=DEADLINE)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


@contextmanager
def workers(folder, url, names) -> Iterator[list[Worker]]:
    processes = [Worker(folder, url, name) for name in names]
    try:
        for worker in processes:
            worker.wait_for_rows(1)
        yield processes
    finally:
        for worker in processes:
            worker.kill()


def shipped_ids(url):
    """Read without the gateway's time limits: on a busy machine the database may be slow."""
    database = create_engine(url)
    with database.connect() as connection:
        ids = list(connection.execute(select(usage.c.id)).scalars())
    database.dispose()
    return ids


def recover(folder, url):
    """Ship everything, as any worker does: a round ends early when it takes long."""
    database = open_database(url)
    shipper = Shipper(folder, UsageTable(database))
    until(lambda: shipper.round() or files(folder) == [], patience=DEADLINE)
    shipper.close()
    database.close()


def ids_of(processes):
    return {id_ for worker in processes for id_ in worker.ids}


def check(url, processes):
    """Rows whose `append` returned are in the database once; a killed worker may add one."""
    in_database = shipped_ids(url)
    assert len(in_database) == len(set(in_database))
    assert ids_of(processes) - set(in_database) == set()
    assert len(set(in_database) - ids_of(processes)) <= len(processes)


@pytest.fixture
def url(records_url):
    database = open_database(records_url)
    upgrade(database)
    database.close()
    return records_url


def test_killed_workers_lose_no_row(url, tmp_path):
    """In each round two workers append and ship, and are killed at any moment."""
    processes = []
    for wave in range(2):
        with workers(tmp_path, url, [f"{wave}{n}" for n in range(2)]) as running:
            for worker in running:
                worker.wait_for_rows(random.randrange(20, 100))
                worker.kill()
        processes += running
    recover(tmp_path, url)
    check(url, processes)


@pytest.mark.keeps("the PostgreSQL of all tests, started again")
def test_a_server_that_stops_or_crashes_loses_no_row(postgres, tmp_path):
    url = postgres.fresh()
    database = open_database(url)
    upgrade(database)
    database.close()
    with workers(tmp_path, url, ["a", "b"]) as processes:
        for end in (postgres.stop, postgres.kill):
            end()
            for worker in processes:  # requests go on
                worker.wait_for_rows(100)
            postgres.start()
        with postgres.paused():
            for worker in processes:
                worker.wait_for_rows(100)
        ids = ids_of(processes)
        until(
            lambda: ids <= set(shipped_ids(url)), patience=DEADLINE
        )  # the living do it by themselves
    recover(tmp_path, url)
    check(url, processes)


def stops_with_files(pid, folder):
    """Stop a worker. Returns whether it has files; one that has just deleted them goes on."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED)
    if files(folder):
        return True
    os.kill(pid, signal.SIGCONT)
    return False


def test_a_worker_killed_before_it_deletes_a_file_inserts_no_row_twice(url, tmp_path):
    """The rows are in the database, and still in the file as well."""
    folder = tmp_path / "journal"
    with workers(folder, url, ["a"]) as processes:
        until(lambda: len(shipped_ids(url)) > 50, patience=DEADLINE)
        until(lambda: stops_with_files(processes[0].process.pid, folder), patience=DEADLINE)
    before = len(shipped_ids(url))
    recover(folder, url)
    check(url, processes)
    assert len(shipped_ids(url)) >= before

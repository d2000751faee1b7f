"""CPU of a row of the ledger: `python -m benchmarks.ledger [rows] [postgresql+psycopg://...]`.

CPU of this process for appending a row to the journal, as a request does at its end, and for
shipping it to the database in the background; and the rows shipped per second.
"""

# ruff: noqa: E402 - gevent patches first, as in a worker
from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import sys
import tempfile
import time
from pathlib import Path

import gevent
from sqlalchemy import text

from engine.exchange.exchange import new_request_id
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal
from engine.stores.ledger.shipper import Shipper
from engine.stores.ledger_entry import Entry

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
BURST = 500


def entry() -> Entry:
    return Entry(
        id=new_request_id(),
        time=time.time(),
        token="team-a",
        operation="openai.createChatCompletion",
        model_asked="gpt-4o",
        model_served="gpt-4o-2024-11-20",
        upstream="openai",
        status=200,
        input=1200,
        output=340,
        cached=100,
        source="upstream",
        cost=12_345_678,
        currency="USD",
        first_byte=0.4312,
        duration=2.123,
        bytes_in=4300,
        bytes_out=15200,
        stream=True,
        attempts=1,
    )


def append_seconds(journal: Journal) -> float:
    """CPU seconds for appending all rows; in bursts, so that few entries are in memory."""
    seconds = 0.0
    for _ in range(ROWS // BURST):
        entries = [entry() for _ in range(BURST)]
        start = time.process_time()
        for row in entries:
            journal.append(row)
        seconds += time.process_time() - start
    return seconds


def longest_pause(stop: list[bool]) -> float:
    """The longest time in seconds that gevent's hub was blocked, until `stop` has an item."""
    worst, last = 0.0, time.perf_counter()
    while not stop:
        gevent.sleep(0.001)
        now = time.perf_counter()
        worst, last = max(worst, now - last - 0.001), now
    return worst


def run(url: str, folder: Path) -> None:
    database = open_database(url)
    upgrade(database)
    database.write(lambda c: c.execute(text("DELETE FROM usage")))
    journal = Journal(folder)
    shipper = Shipper(folder, UsageTable(database))
    start = time.perf_counter()
    append_cpu = append_seconds(journal)
    append_wall = time.perf_counter() - start
    journal.close()
    stop: list[bool] = []
    pause = gevent.spawn(longest_pause, stop)
    cpu, wall = time.process_time(), time.perf_counter()
    shipper.round()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    stop.append(True)
    entered = database.read(lambda c: c.execute(text("SELECT count(*) FROM usage")).scalar())
    print(f"{database.kind}: {entered} of {ROWS} rows, {journal.lost_rows} lost")
    print(f"  append   {append_cpu / ROWS * 1e6:6.1f} us CPU a row, all {append_wall:.1f} s")
    print(f"  enter    {cpu / ROWS * 1e6:6.1f} us CPU a row, {ROWS / wall:,.0f} rows/s")
    print(f"  longest pause of the hub {pause.get() * 1000:.1f} ms; lag {shipper.lag()}")
    shipper.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        urls = sys.argv[2:] or [f"sqlite:///{folder}/modelway.db"]
        for number, url in enumerate(urls):
            run(url, Path(folder) / f"journal{number}")


if __name__ == "__main__":
    main()

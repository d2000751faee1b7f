"""The time of every sum and list of the ledger, over ten million rows of 92 days in PostgreSQL.

python -m benchmarks.large_ledger [ROWS]        default: 10,000,000; takes half an hour, and 10 GB

The rows are skewed, as those of a company: of 200 tokens the busiest sends a sixth, its team a
fifth of all. A session has the requests of one token, 50 on average. One token has a new tag for
each request. `first` is a query after the server was started again without its files in the page
cache; `median` and `longest` are of ten more.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, TextClause, text

from engine.stores.database.caller_sums import CallerSums
from engine.stores.database.database import Database
from engine.stores.database.failures import DatabaseError
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.partitions import create_months
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import KINDS, totals
from tests.support.postgres import Postgres, binaries, running

DAY = 86_400
DAYS = 92
BUSY, USUAL, UNIQUE = "token-0", "token-60", "token-1"
"""The busiest token, one of the others, and the one with a tag of its own for each request."""
BUSY_TEAM, USUAL_TEAM = "team-0", "team-7"
AGAIN = 10
_COUNT_TIMEOUT = 600
"""Seconds: every row is read, on a machine that may have other work."""
Query = Callable[[Database], object]

_ROWS = """
INSERT INTO ledger (id, time, token, team, operation, model_asked, model_served, upstream, status,
  outcome, input, output, cached, reasoning, images, seconds, characters, source, cost, currency,
  first_byte, duration, bytes_in, bytes_out, stream, attempts, price, client, session, tags)
SELECT 'req_' || lpad(to_hex((time * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20),
  time, 'token-' || token, 'team-' || token % 20, 'openai.createChatCompletion', 'model-' || model,
  'model-' || model || '-2026', 'upstream-' || model % 3, CASE kind WHEN 0 THEN 500 WHEN 1 THEN 429
  ELSE 200 END, CASE kind WHEN 0 THEN 'failed' WHEN 1 THEN 'refused' WHEN 2 THEN 'caller_left'
  ELSE 'complete' END, 1200, 340, 100, 0, 0, 0, 0, 'upstream', 12345678, 'USD', 0.4, 2.1, 4300,
  15200, true, 1, 'config', 'claude', 'session-' || token || '-' || number / 10000,
  CASE WHEN token = 1 THEN '{"customer":"c' || number || '"}' WHEN token % 5 < 3
  THEN '{"customer":"c' || customer || '","project":"p' || token % 10 || '"}' ELSE '' END
FROM (
  SELECT number, :day + random() * 86400 AS time, floor(200 * random() ^ 3)::int AS token,
    floor(random() * 100)::int AS kind, floor(300 * random() ^ 2)::int AS customer,
    floor(3 * random() ^ 2)::int AS choice FROM generate_series(:first, :last - 1) AS number
) AS dice, LATERAL (SELECT (token % 12 + choice) % 12 AS model) AS models ORDER BY time
"""


def fill(database: Database, rows: int, until: int) -> None:
    """Insert rows of the days before `until`, a day in a transaction, as the triggers see them."""
    days = range(until - DAYS * DAY, until, DAY)
    database.write(lambda connection: create_months(connection, days))
    for number, day in enumerate(days):
        first, last = rows * number // DAYS, rows * (number + 1) // DAYS
        database.write(partial(_insert, day=day, first=first, last=last))
    database.maintain(_analyze)


def _insert(connection: Connection, day: int, first: int, last: int) -> None:
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text(_ROWS), {"day": day, "first": first, "last": last})


def _analyze(connection: Connection) -> None:
    connection.execute(text("ANALYZE"))
    connection.commit()


def queries(until: int) -> Iterator[tuple[str, Query]]:
    """What a name asks: the lists and sums of callers, then the reports of operators."""
    for days in (30, DAYS):
        since, end = float(until - days * DAY), float(until)
        for by in ("day", "model", "tag:customer"):
            for token, team in ((BUSY, ""), (USUAL, ""), ("", BUSY_TEAM), ("", USUAL_TEAM)):
                yield f"{token or team} by {by}, {days} days", _sums(by, token, team, since, end)
        yield (
            f"{UNIQUE} by tag:customer, {days} days",
            _sums("tag:customer", UNIQUE, "", since, end),
        )
    for token in (BUSY, USUAL, "token-absent"):
        yield f"{token}, last 20 requests", lambda db, t=token: CallerSums(db).requests(t, "", 20)
        yield f"{token}, page of 100", lambda db, t=token: _second_page(db, t)


def reports(until: int) -> Iterator[tuple[str, Query]]:
    """What `modelway usage` asks: by each grouping, of the last 7, 30 and 92 days."""
    for days in (7, 30, DAYS):
        where = UsageFilter(float(until - days * DAY) + 1800, float(until) - 1800)
        for by in (*KINDS, "tag:customer"):
            yield f"usage --by {by}, {days} days", lambda db, b=by, w=where: totals(db, b, w)


def _sums(by: str, token: str, team: str, since: float, until: float) -> Query:
    return lambda database: CallerSums(database).sums(by, token, team, since, until)


def _second_page(database: Database, token: str) -> object:
    sums = CallerSums(database)
    page = sums.requests(token, "", 20) or [{"id": ""}]
    return sums.requests(token, page[-1]["id"], 100)


def measure(server: Postgres, url: str, named: Iterator[tuple[str, Query]], again: int) -> None:
    """Print the time of each query, in milliseconds: the first one, and `again` more."""
    for name, query in named:
        _forget(server, url)
        database = open_database(url)
        database.read(lambda connection: connection.execute(text("SELECT 1")))
        times = [_time(query, database) for _ in range(1 + again)]
        database.close()
        more = times[1:] or [float("nan")]
        print(
            f"  {name:42} first {times[0]:8.1f}   median {statistics.median(more):8.1f}   "
            f"longest {max(more):8.1f} ms",
            flush=True,
        )


def _time(query: Query, database: Database) -> float:
    start = time.perf_counter()
    try:
        query(database)
    except DatabaseError as error:
        print(f"  {error.__cause__ or error}"[:100])
    return (time.perf_counter() - start) * 1000


def _forget(server: Postgres, url: str) -> None:
    """Start the server again, without its files in the page cache."""
    database = open_database(url)
    folder = Path(str(database.read(lambda c: c.execute(text("SHOW data_directory")).scalar_one())))
    database.close()
    server.stop()
    os.sync()
    for path in folder.rglob("*"):
        with suppress(OSError):
            _drop(path)
    server.start()


def _drop(path: Path) -> None:
    if path.is_file():
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def _count(database: Database, table: str) -> int:
    query = text(f"SELECT count(*) FROM {table}")
    read = partial(_scalar, query=query)
    return database.read_consistently(read, timeout=_COUNT_TIMEOUT)


def _scalar(connection: Connection, query: TextClause) -> int:
    return int(connection.execute(query).scalar_one())


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    if binaries() is None:
        print("postgresql: not installed")
        return
    until = (int(time.time()) // DAY + 1) * DAY
    with running() as server:
        url = server.fresh()
        database = open_database(url)
        upgrade(database)
        start = time.monotonic()
        fill(database, rows, until)
        print(f"{rows:,} rows made in {time.monotonic() - start:.0f} s")
        for table in ("usage", "ledger_totals", "ledger_models", "ledger_tags"):
            print(f"  {table}: {_count(database, table):,} rows")
        database.close()
        measure(server, url, queries(until), AGAIN)
        measure(server, url, reports(until), 0)


if __name__ == "__main__":
    main()

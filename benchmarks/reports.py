"""How long each report of `modelway usage` takes: `python -m benchmarks.reports [ROWS] [--even]`.

By default 10,000,000 rows of a year, in a PostgreSQL of its own: 1,000 tokens of 50 teams, 20
models. Most rows are of few tokens, each with three models. With `--even` every token uses every
model equally often, so that sums of hours save nothing: the worst case. Takes about 15 minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, text

from engine.stores.database.database import Database
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.partitions import create_months
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import KINDS, totals
from engine.stores.database.usage import UsageTable
from tests.support.postgres import running

DAY = 86_400
SINCE = datetime(2030, 1, 1, tzinfo=UTC).timestamp()
UNTIL = SINCE + 365 * DAY
PART = 100_000

_UNEVEN = """
  floor(1000 * random() ^ 3)::int AS token, floor(3 * random())::int AS choice"""
_EVEN = """
  floor(1000 * random())::int AS token, floor(20 * random())::int AS choice"""
_ROWS = """
INSERT INTO ledger (id, time, token, team, operation, model_asked, model_served, upstream, status,
  outcome, input, output, cached, reasoning, images, seconds, characters, source, cost, currency,
  first_byte, duration, bytes_in, bytes_out, stream, attempts, price)
SELECT 'req_' || lpad(to_hex(n), 32, '0'), :since + (n + random()) * :step, 'token ' || token,
  'team ' || token % 50, 'openai.createChatCompletion', 'model ' || model, 'model ' || model
  || '-2029-11-20', CASE WHEN random() < 0.9 THEN 'openai' ELSE 'azure' END,
  CASE WHEN failed THEN 502 ELSE 200 END, CASE WHEN failed THEN 'failed' ELSE 'complete' END,
  (3000 * random())::int, (800 * random())::int, 0, 0, 0, 0, 0, 'upstream',
  (50000000 * random())::bigint, 'USD', random(), 2 * random(), 4300, 15200, true, 1, 'config'
FROM (
  SELECT n, token, (choice + :spread * token) % 20 AS model, random() < 0.03 AS failed
  FROM (SELECT n, {chances} FROM generate_series(:first, :last) AS n) AS chances
) AS rows
"""
RANGES = {
    "a year": (SINCE, UNTIL),
    "90 days to the second": (SINCE + 200 * DAY + 1234.5, SINCE + 290 * DAY + 1234.5),
    "30 days": (SINCE + 300 * DAY + 5000, SINCE + 330 * DAY + 5000),
    "a day": (SINCE + 99.5 * DAY + 1, SINCE + 100.5 * DAY + 1),
}
FILTERS: dict[str, dict[str, str]] = {
    "": {},
    "of the largest token": {"token": "token 0"},
    "of a model": {"model": "model 0"},
    "of both": {"token": "token 0", "model": "model 0"},
}
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu")


@contextmanager
def timed(name: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    print(f"  {time.perf_counter() - begin:8.2f} s  {name}", flush=True)


def fill(database: Database, count: int, even: bool) -> None:
    statement = text(_ROWS.format(chances=_EVEN if even else _UNEVEN))
    step = (UNTIL - SINCE) / count
    times = [SINCE + day * DAY for day in range(0, 366, 7)]
    database.write(lambda connection: create_months(connection, times))

    def insert(connection: Connection) -> None:
        for first in range(0, count, PART):
            values = {"since": SINCE, "step": step, "spread": 0 if even else 7}
            bounds = {"first": first, "last": min(first + PART, count) - 1}
            connection.execute(statement, values | bounds)
            connection.commit()

    database.maintain(insert)


def analyze(connection: Connection) -> None:
    connection.commit()
    connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM ANALYZE")


def sizes(connection: Connection) -> None:
    for table in ("ledger", "ledger_totals", "ledger_models"):
        count = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar()
        print(f"  {count:>12,} rows in {table}")


def reports(database: Database) -> list[tuple[float, str]]:
    """Seconds of each report, the slowest first."""
    durations = []
    for name, (since, until) in RANGES.items():
        for selection, names in FILTERS.items():
            for by in KINDS:
                for zone in ZONES if by == "day" else ZONES[:1]:
                    begin = time.perf_counter()
                    totals(database, by, UsageFilter(since, until, **names), ZoneInfo(zone))
                    seconds = time.perf_counter() - begin
                    durations.append((seconds, f"{name} --by {by} {selection} {zone}"))
    return sorted(durations, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=10_000_000)
    parser.add_argument("--even", action="store_true")
    options = parser.parse_args()
    with running() as server:
        database = open_database(server.fresh())
        upgrade(database)
        with timed(f"{options.rows:,} rows inserted, with their sums"):
            fill(database, options.rows, options.even)
        with timed("vacuum and analyze"):
            database.maintain(analyze)
        database.maintain(sizes)
        durations = reports(database)
        print(f"  {len(durations)} reports, the slowest:")
        for seconds, name in durations[:12]:
            print(f"  {seconds:8.2f} s  {name}")
        print(f"  {durations[len(durations) // 2][0]:8.2f} s  the median")
        with timed("nine months dropped"):
            UsageTable(database).delete_before(SINCE + 280 * DAY, 1000)
        database.close()


if __name__ == "__main__":
    main()

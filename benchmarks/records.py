"""The time of a look-up of a token, with a thousand and with a million tokens in the database.

python -m benchmarks.records [COUNT]        default: 1,000,000; takes some minutes
"""

from __future__ import annotations

import hashlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice

from sqlalchemy import Connection, text

from engine.callers.cache import TokenCache
from engine.stores.database import tokens
from engine.stores.database.database import Database
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.tokens import Token
from tests.support.postgres import binaries, running

LOOKUPS = 5_000
SMALL = 1_000


def sha256(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


_SERIES = """
INSERT INTO tokens (name, sha256, models, rate, created, note)
SELECT 'token ' || n, encode(sha256(n::text::bytea), 'hex'), '["gpt-4o*"]', '60/1m', 1.0, ''
FROM generate_series(:start, :end - 1) AS n
"""


def fill(database: Database, start: int, end: int) -> None:
    if database.kind == "postgresql":  # faster inside the server

        def insert(connection: Connection) -> None:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text(_SERIES), {"start": start, "end": end})
            connection.execute(text("ANALYZE tokens"))

        database.write(insert)
        return
    entries = (
        Token(f"token {n}", sha256(n), 1.0, models=("gpt-4o*",), rate="60/1m")
        for n in range(start, end)
    )
    while batch := list(islice(entries, 20_000)):
        tokens.add(database, batch)


def time_of(look_up: Callable[[str], object], digests: list[str]) -> tuple[float, float, float]:
    """Microseconds of a look-up: the median, the 99th percentile, and the mean of CPU."""
    durations = []
    cpu = time.process_time()
    for digest in digests:
        start = time.perf_counter()
        look_up(digest)
        durations.append(time.perf_counter() - start)
    cpu = time.process_time() - cpu
    return (
        statistics.median(durations) * 1e6,
        statistics.quantiles(durations, n=100)[98] * 1e6,
        cpu / len(digests) * 1e6,
    )


def measure(database: Database, count: int) -> None:
    dice = random.Random(1)
    records = tokens.caller_lookup(database, "USD")

    def find(digest: str) -> object:
        return records([digest])

    valid = [sha256(dice.randrange(count)) for _ in range(LOOKUPS)]
    invalid = [sha256(-1 - n) for n in range(LOOKUPS)]
    time_of(find, valid[:200])
    directory = TokenCache({}, records, ttl=600.0)
    for digest in valid[:1000]:
        directory.get(digest)
    for name, look_up, digests in (
        ("known", find, valid),
        ("unknown", find, invalid),
        ("cached by the worker", directory.get, valid[:1000] * 5),
    ):
        median, slow, cpu = time_of(look_up, digests)
        print(
            f"  {count:>9,} tokens, {name:18} {median:8.1f} us median {slow:8.1f} us p99"
            f" {cpu:8.1f} us CPU"
        )


def compare(url: str, count: int) -> None:
    database = open_database(url)
    upgrade(database)
    print(database.kind)
    fill(database, 0, SMALL)
    measure(database, SMALL)
    start = time.monotonic()
    fill(database, SMALL, count)
    print(f"  ({count - SMALL:,} more made in {time.monotonic() - start:.0f} s)")
    measure(database, count)
    database.close()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        compare(f"sqlite:///{folder}/records.db", count)
    if binaries() is None:
        print("postgresql: not installed, not measured")
        return
    with running() as server:
        compare(server.fresh(), count)


if __name__ == "__main__":
    main()

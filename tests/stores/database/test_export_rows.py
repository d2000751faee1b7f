"""Rows of the ledger in pages, on both kinds of database."""

from engine.stores.database.export_rows import pages
from engine.stores.database.sums import UsageFilter
from engine.stores.database.usage import UsageTable
from tests.support.ledger_rows import random_rows

START = 1_790_000_000.0
ROWS = random_rows(60, START, START + 70 * 86_400)


def test_every_row_is_in_one_page_in_the_order_of_time_and_id(records):
    UsageTable(records).insert(ROWS)
    where = UsageFilter(START + 86_400, START + 60 * 86_400)
    expected = sorted(
        (row for row in ROWS if where.since <= row.time < where.until),
        key=lambda row: (row.time, row.id),
    )
    for size in (7, len(expected), 1000):
        found = [*pages(records, where, size)]
        assert [row for page in found for row in page] == expected
        assert {len(page) for page in found[:-1]} <= {size}


def test_rows_of_the_same_moment_are_all_there(records):
    rows = [row._replace(time=START) for row in ROWS]
    UsageTable(records).insert(rows)
    found = [row.id for page in pages(records, UsageFilter(START, START + 1), 7) for row in page]
    assert sorted(found) == sorted(row.id for row in rows)

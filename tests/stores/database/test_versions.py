"""Two versions of the program side by side on one database: the last release and this one."""

import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from engine.stores.database import tokens
from engine.stores.database.failures import Deadlock, WrongVersion
from engine.stores.database.migrate import check_version, upgrade
from engine.stores.database.migrations import HEAD
from engine.stores.database.open_database import open_database
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import totals
from engine.stores.database.usage import UsageTable
from tests.support.ledger_rows import expected_totals, random_rows, without_average
from tests.support.release import REVISION, Release, downgrade

START = datetime(2026, 8, 1, tzinfo=UTC).timestamp()
ROWS = [row._replace(team="", margin=0) for row in random_rows(400, START, START + 50 * 86_400)]
"""Without teams and margins, which the release does not know."""
ALL = UsageFilter(0.0, 1e12)


@pytest.fixture
def release(records_url):
    """The last release with 200 rows, and a token."""
    database = open_database(records_url)
    release = Release(database)
    release.create_tables()
    release.insert(ROWS[:200])
    release.add_token("old", "a" * 64)
    yield release
    database.close()


def assert_totals(database, rows):
    for by in ("token", "day"):
        assert without_average(totals(database, by, ALL)) == expected_totals(rows, by, ALL)


def test_rows_of_both_versions_count_once(release):
    database, table = release.database, UsageTable(release.database)
    upgrade(database)
    assert release.insert(ROWS[150:250]) == 50
    assert table.insert(ROWS[200:300]) == 50
    assert release.insert(ROWS[250:350]) == 50
    assert table.insert(ROWS[:50]) == 0
    assert_totals(database, ROWS[:350])
    while table.fill():
        pass
    assert_totals(database, ROWS[:350])
    assert sum(release.requests_by_token().values()) == 350


def test_the_release_can_be_started_again(release):
    upgrade(release.database)
    assert release.can_start()
    assert check_version(release.database)


def test_new_tables_are_those_of_the_release_as_well(records):
    release = Release(records)
    assert release.can_start()
    assert (release.insert(ROWS[:9]), UsageTable(records).insert(ROWS[:9])) == (9, 0)
    assert_totals(records, ROWS[:9])


def test_tokens_of_both_versions_are_found(release):
    upgrade(release.database)
    tokens.add(release.database, [tokens.Token("new", "b" * 64, 1.0, team="lab")])
    assert release.find_token("b" * 64) == ("new", None, "lab")
    release.add_token("again", "c" * 64)
    callers = tokens.caller_lookup(release.database, "USD")(["a" * 64, "c" * 64])
    assert {caller.name for caller in callers.values()} == {"old", "again"}


def test_the_retention_of_the_release_works(release):
    upgrade(release.database)
    before = START + 86_400
    old = sum(row.time < before for row in ROWS[:200])
    assert release.delete_before(before, 1000) == old > 0


def insert_again_after_deadlocks(release, row):
    """Ship a row as the release does, which tries again when the database is away."""
    while True:
        try:
            return release.insert([row])
        except Deadlock:
            continue


def test_rows_that_are_shipped_during_the_migration_count_once(release):
    """Both programs insert while the tables change under them."""
    database, stop = release.database, threading.Event()
    second_database = open_database(str(database.engine.url))
    inserted: list[int] = []

    def ship():
        for row in ROWS[200:]:
            inserted.append(insert_again_after_deadlocks(Release(second_database), row))
            if stop.is_set():
                return

    thread = threading.Thread(target=ship)
    thread.start()
    upgrade(database)
    stop.set()
    thread.join()
    second_database.close()
    table = UsageTable(database)
    while table.fill():
        pass
    assert sum(inserted) == len(inserted) > 0
    assert_totals(database, ROWS[: 200 + len(inserted)])


def test_the_tables_go_back_to_those_of_the_release(release):
    """Rows of this version stay, also those in partitions of their own."""
    database = release.database
    upgrade(database)
    late = ROWS[250]._replace(time=START + 5 * 365 * 86_400, id="late")
    UsageTable(database).insert([*ROWS[200:250], late])
    downgrade(database, REVISION)
    assert release.can_start()
    assert release.insert(ROWS[240:260]) == 10
    assert sum(release.requests_by_token().values()) == 261
    upgrade(database)
    assert_totals(database, [*ROWS[:260], late])


@pytest.mark.parametrize("oldest", [HEAD, REVISION])
def test_tables_of_a_newer_program_that_expanded_them_are_used(records, oldest):
    def expand(connection):
        connection.execute(text("UPDATE schema_version SET version_num = 'r9999'"))
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{oldest}'"))

    records.write(expand)
    assert check_version(records)
    upgrade(records)


def test_tables_of_a_newer_program_that_contracted_them_are_refused(records):
    def contract(connection):
        connection.execute(text("UPDATE schema_version SET version_num = 'r9999'"))
        connection.execute(text("UPDATE alembic_version SET version_num = 'r9998'"))

    records.write(contract)
    with pytest.raises(WrongVersion, match="run that version"):
        upgrade(records)

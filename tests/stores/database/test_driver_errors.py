"""What an error of the database says to do."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest

from engine.stores.database.failures import Clash, DatabaseRefuses, Deadlock
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from tests.support.records import select_one


def test_a_row_with_an_existing_key_is_a_clash(records):
    def insert(connection):
        connection.exec_driver_sql(
            "INSERT INTO tokens (name, sha256, created, note) VALUES ('a', 'a', 1, '')"
        )

    records.write(insert)
    with pytest.raises(Clash):
        records.write(insert)


def test_a_database_without_tables_says_what_makes_them(records_url):
    database = open_database(records_url)
    with pytest.raises(DatabaseRefuses, match="no tables yet"):
        database.read(lambda c: c.exec_driver_sql("SELECT * FROM tokens"))
    database.close()


def test_the_transaction_that_is_ended_by_a_deadlock_may_be_repeated(postgres):
    """Two advisory locks that two transactions take in different orders."""
    database = open_database(postgres.url)

    def take(second, connection):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({3 - second})")
        barrier.wait()
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({second})")

    def outcome(second):
        try:
            database.write(partial(take, second))
        except Deadlock as error:
            return str(error)
        return "taken"

    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        taken, deadlock = sorted(pool.map(outcome, (1, 2)), reverse=True)
    assert taken == "taken"
    assert "deadlock detected" in deadlock
    assert "does not answer" not in deadlock
    database.close()


@pytest.mark.parametrize(
    ("user", "name", "words"),
    [
        ("nobody-here", "postgres", "the login is refused"),
        ("modelway", "nothing-here", "no database of that name: make it with `createdb`"),
    ],
)
def test_a_refused_user_gets_the_reason(postgres, user, name, words):
    with pytest.raises(DatabaseRefuses, match=words):
        open_database(postgres.named(name, user)).read(select_one)


def test_a_user_without_rights_is_told_what_to_grant(postgres):
    """As every user but the owner since PostgreSQL 15, who may make no tables either."""
    url = postgres.fresh()
    postgres.run("DROP ROLE IF EXISTS guest")
    postgres.run("CREATE ROLE guest LOGIN")
    guest = open_database(url.replace("modelway@", "guest@"))
    with pytest.raises(DatabaseRefuses, match="make it the owner of the database, or GRANT"):
        upgrade(guest)
    upgrade(open_database(url))
    with pytest.raises(DatabaseRefuses, match="make it the owner of the database, or GRANT"):
        guest.read(lambda c: c.exec_driver_sql("SELECT * FROM tokens"))
    guest.close()


def test_a_file_that_cannot_be_written_is_reported(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/x.db")
    upgrade(database)

    def insert(connection):
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.exec_driver_sql("DELETE FROM tokens")

    with pytest.raises(DatabaseRefuses, match="this user needs to write the file and its folder"):
        database.write(insert)


def test_a_full_disk_is_reported(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/x.db")
    upgrade(database)

    def fill(connection):
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
        connection.exec_driver_sql(
            "INSERT INTO tokens (name, sha256, created, note) VALUES ('a', 'b', 1, ?)",
            ("x" * 1_000_000,),
        )

    with pytest.raises(DatabaseRefuses, match="disk is full"):
        database.write(fill)


def test_a_file_that_is_no_database_is_reported(tmp_path):
    (tmp_path / "x.db").write_text("These are words, and not a database. " * 100)
    with pytest.raises(DatabaseRefuses, match="no SQLite database"):
        upgrade(open_database(f"sqlite:///{tmp_path}/x.db"))


def test_a_file_that_was_removed_is_reported_and_not_created(tmp_path):
    file = tmp_path / "x.db"
    database = open_database(f"sqlite:///{file}")
    upgrade(database)
    file.unlink()
    for _ in range(2):
        with pytest.raises(DatabaseRefuses, match="the file was removed: put a copy back"):
            database.write(select_one)
    assert not file.exists()


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(DatabaseRefuses, match="does its folder exist"):
        open_database(f"sqlite:///{tmp_path}/nowhere/x.db").read(select_one)

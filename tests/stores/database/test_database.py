"""Opening a database, reading and writing it, and its time limits."""

import threading

import psycopg
import pytest

from tests.support.records import select_one


def test_a_transaction_commits_all_or_nothing(records):
    def half(connection):
        connection.exec_driver_sql(
            "INSERT INTO tokens (name, sha256, created, note) VALUES ('a', 'a', 1, '')"
        )
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        records.write(half)
    assert records.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM tokens").scalar()) == 0


def test_a_thread_may_use_the_database_of_another(records):
    rows = []
    thread = threading.Thread(target=lambda: rows.append(records.read(select_one)))
    thread.start()
    thread.join(10)
    assert rows == [1]


def test_the_server_under_test_is_the_real_one(postgres):
    with psycopg.connect(postgres.url.replace("+psycopg", "")) as connection:
        version = connection.execute("SELECT version()").fetchone()
    assert version[0].startswith("PostgreSQL")

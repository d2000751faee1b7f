"""How databases are opened."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from engine.stores.database import open_database as database_module
from engine.stores.database.failures import BadUrl, DatabaseAway
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from tests.support.records import select_one


@pytest.mark.parametrize(
    "url",
    [
        *("", "modelway.db", "mysql://localhost/x", "postgresql+asyncpg://localhost/x"),
        *("sqlite://", "sqlite:///:memory:", "sqlite:///x.db?mode=ro", "sqlite+aiosqlite:///x.db"),
    ],
)
def test_an_unsupported_url_is_refused(url):
    with pytest.raises(BadUrl, match="write sqlite:///var"):
        open_database(url)


def test_a_password_is_never_shown():
    database = open_database("postgresql+psycopg://me:geheim@127.0.0.1:1/x")
    assert "geheim" not in database.display_url
    with pytest.raises(DatabaseAway) as excinfo:
        database.read(select_one)
    assert "geheim" not in str(excinfo.value)
    assert "127.0.0.1" in str(excinfo.value)


def test_a_password_in_the_query_is_never_shown():
    database = open_database("postgresql+psycopg://me@127.0.0.1:1/x?password=geheim")
    with pytest.raises(DatabaseAway) as excinfo:
        database.read(select_one)
    assert "geheim" not in f"{database.display_url} {excinfo.value}"


def test_a_password_in_an_invalid_url_is_never_shown():
    with pytest.raises(BadUrl) as excinfo:
        open_database("postgresql me:geheim@host")
    assert "geheim" not in str(excinfo.value)


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "postgresql", "postgres"])
def test_postgresql_has_several_url_schemes(postgres, scheme):
    database = open_database(postgres.url.replace("postgresql+psycopg", scheme))
    assert database.read(select_one) == 1
    assert database.kind == "postgresql"
    database.close()


def test_readers_of_sqlite_do_not_wait_for_a_writer(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    database, second_database = open_database(url), open_database(url, busy=0.0)
    upgrade(database)

    def writing(connection):
        assert (
            second_database.read(
                lambda c: c.exec_driver_sql("SELECT count(*) FROM tokens").scalar()
            )
            == 0
        )
        with pytest.raises(DatabaseAway, match="locked"):
            second_database.write(select_one)

    database.write(writing)


def test_a_file_of_sqlite_that_was_replaced_is_opened_again(tmp_path):
    """By a copy that was put back: the other file would take rows that nobody sees."""
    file, copy = tmp_path / "x.db", tmp_path / "copy.db"
    database, present = open_database(f"sqlite:///{file}"), "SELECT count(*) FROM copied"
    database.write(lambda c: c.exec_driver_sql("CREATE TABLE first (id INTEGER)"))
    other = open_database(f"sqlite:///{copy}")
    other.write(lambda c: c.exec_driver_sql("CREATE TABLE copied (id INTEGER)"))
    other.close()
    copy.replace(file)
    database.write(lambda c: c.exec_driver_sql("INSERT INTO copied VALUES (1)"))
    assert database.read(lambda c: c.exec_driver_sql(present).scalar()) == 1
    database.close()


def test_a_file_of_sqlite_that_cannot_be_seen_is_not_a_removed_one(tmp_path, monkeypatch):
    database = open_database(f"sqlite:///{tmp_path / 'x.db'}")
    assert database.read(lambda c: c.exec_driver_sql("SELECT 1").scalar()) == 1

    def refused(path: object) -> None:
        raise PermissionError

    monkeypatch.setattr(database_module, "os", SimpleNamespace(stat=refused))
    assert database.read(lambda c: c.exec_driver_sql("SELECT 1").scalar()) == 1
    database.close()


@pytest.mark.keeps("the PostgreSQL of all tests, started again")
def test_a_broken_idle_connection_is_replaced(postgres):
    database = open_database(postgres.url)
    assert database.read(select_one) == 1
    postgres.kill()
    postgres.start()
    assert database.read(select_one) == 1
    database.close()


def test_texts_are_kept_in_a_database_without_an_encoding(postgres):
    """The default of `initdb` in a container without a locale."""
    postgres.run("CREATE DATABASE ascii TEMPLATE template0 ENCODING SQL_ASCII LOCALE 'C'")
    database = open_database(postgres.named("ascii"))
    try:
        upgrade(database)
        text = database.read(lambda c: c.exec_driver_sql("SELECT 'Zoë'").scalar())
        assert text == "Zoë"
    finally:
        database.close()
        postgres.run("DROP DATABASE ascii")


def test_a_statement_has_its_time_limit(postgres):
    database = open_database(postgres.url)
    timeout = database.read(lambda c: c.exec_driver_sql("SHOW statement_timeout").scalar())
    assert timeout == "2s"
    database.close()


def test_a_statement_that_takes_too_long_is_away_and_breaks_no_connection(postgres):
    database = open_database(f"{postgres.url}?options=-c%20statement_timeout%3D100")
    with pytest.raises(DatabaseAway, match="statement timeout"):
        database.read(lambda c: c.exec_driver_sql("SELECT pg_sleep(10)"))
    assert database.read(select_one) == 1
    database.close()


COOPERATIVE = """
import sys
{before}
from gevent import monkey
monkey.patch_all()
import gevent
from engine.stores.database.open_database import open_database
database = open_database(sys.argv[1])
database.read(lambda c: c.exec_driver_sql("SELECT 1").scalar())
def count():
    for _ in range(50):
        gevent.sleep(0.002)
    print("counted", flush=True)
gevent.spawn(count)
database.read(lambda c: c.exec_driver_sql("SELECT pg_advisory_lock(7)"))
"""


@pytest.mark.parametrize(("own", "used"), [(0, "0"), (16, "128"), (500, "500")])
def test_a_report_reads_ahead_where_the_server_can(postgres, own, used):
    options = f"options=-c%20effective_io_concurrency%3D{own}"
    database = open_database(f"{postgres.url}?{options}")

    def show(connection):
        return connection.exec_driver_sql("SHOW effective_io_concurrency").scalar()

    assert database.read_consistently(show, timeout=5) == used
    assert database.read(show) == str(own), "as before, in other transactions"
    database.close()


@pytest.mark.parametrize("before", ["", "import psycopg"], ids=["patched first", "driver first"])
def test_other_greenlets_run_while_postgresql_is_asked(postgres, before):
    """It waits for a lock that is released when the other greenlet has counted."""
    database = open_database(postgres.url)
    url = f"{postgres.url}?options=-c%20statement_timeout%3D30000"
    command = [sys.executable, "-c", COOPERATIVE.format(before=before), url]

    def until_counted(connection):
        connection.exec_driver_sql("SELECT pg_advisory_lock(7)")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        counted = process.stdout.readline()
        connection.exec_driver_sql("SELECT pg_advisory_unlock(7)")
        return process, counted

    process, counted = database.read(until_counted)
    with process:
        assert (counted, process.wait(30)) == ("counted\n", 0)
    database.close()

"""The ledger when workers are killed and the database goes away, under load."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.books import Books
from tests.support.crowd import crowd, traffic
from tests.support.postgres import Postgres, running
from tests.support.recording import Recorder, answer, ask, recorder
from tests.support.running import gateway, modelway
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import some
from tests.support.waiting import until


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = answer(json.dumps(COMPLETION).encode())
        yield recording


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A PostgreSQL that only this test uses, and may stop."""
    with running() as server:
        yield server


def stores(url: str) -> str:
    return f'stores: {{records: "{url}"}}\n'


def test_no_answered_request_is_lost_with_a_killed_worker(
    tmp_path: Path, upstream: Recorder
) -> None:
    config = project(
        tmp_path, upstream.url, {"chat": "[]"}, more=stores("sqlite:///records.db"), workers=2
    )
    callers, kills = 4, 4
    with gateway(tmp_path, config) as front:
        with traffic(front.port, chat(), callers) as load:
            for number in range(1, kills + 1):
                until(lambda enough=number * 100: load.count(200) >= enough, "answers")
                os.kill(until(front.workers, "a worker")[0], signal.SIGKILL)
            until(lambda: load.count(200) >= (kills + 1) * 100, "answers after the last kill")
        books = Books(tmp_path)
        response_ids = load.ids[200]
        assert set(load.ids) == {200}, {k: len(v) for k, v in load.ids.items()}
        until(lambda: set(response_ids) <= set(books.column()), "the rows of killed workers")
        entered = books.column()
    assert len(set(entered)) == len(entered)
    unheard = len(set(entered) - set(response_ids))
    assert unheard <= callers * (kills + 1), "only those under way at a kill, or at the end"


def test_rows_wait_for_a_database_that_is_away(
    tmp_path: Path, upstream: Recorder, database: Postgres
) -> None:
    more = stores(database.url)
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=more)
    with gateway(tmp_path, config) as front:
        result = modelway("token", "create", "--name", "kept", cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        secret = result.stdout.strip()
        with traffic(front.port, chat(token=secret), 4) as load:
            until(lambda: load.count(200) > 100, "answers")
            database.kill()
            before = load.count(200)
            until(lambda: load.count(200) > before + 300, "answers without a database")
            database.start()
            until(lambda: load.count(200) > before + 600, "answers with the database")
        assert set(load.ids) == {200}, {k: len(v) for k, v in load.ids.items()}
        assert not load.broken
        books = Books(tmp_path, database.url)
        until(lambda: len(books.column()) == len(load.ids[200]), "all rows", 40)
        assert set(books.column()) == set(load.ids[200])
        assert front.output().count("the ledger's rows wait in") <= 2, "once a minute, each worker"


def test_the_next_start_ships_what_a_killed_gateway_left(
    tmp_path: Path, upstream: Recorder, database: Postgres
) -> None:
    """All its processes are killed while the database is away."""
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=stores(database.url), workers=2)
    with gateway(tmp_path, config) as front:
        with traffic(front.port, chat(), 4) as load:
            until(lambda: load.count(200) > 100, "answers")
            database.kill()
            before = load.count(200)
            until(lambda: load.count(200) > before + 100, "answers without a database")
        workers = front.workers()
        front.process.kill()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        front.process.wait(30)
    journal = tmp_path / "var" / "journal"
    assert list(journal.glob("*.rows")) != []
    database.start()
    books = Books(tmp_path, database.url)
    with gateway(tmp_path, config):
        until(lambda: set(load.ids[200]) <= set(books.column()), "all rows", 40)
        # A file is deleted after its rows are in the database.
        until(lambda: not list(journal.glob("*.rows")), "an empty journal")
    assert len(set(books.column())) == len(books.column()) == len(load.ids[200])


@pytest.mark.parametrize("kind", some(["postgresql", "sqlite"], 1))
def test_a_gateway_that_is_told_to_end_ships_its_rows_first(
    tmp_path: Path, upstream: Recorder, request: pytest.FixtureRequest, kind: str
) -> None:
    url = "sqlite:///records.db"
    if kind == "postgresql":
        url = request.getfixturevalue("database").url
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=stores(url), workers=2)
    with gateway(tmp_path, config) as front:
        statuses = crowd([front.port], chat(), 600, callers=8)
        front.process.send_signal(signal.SIGTERM)
        front.process.wait(30)
    assert statuses == {200: 600}
    books = Books(tmp_path, "" if kind == "sqlite" else url)
    assert len(set(books.column())) == 600
    assert list((tmp_path / "var" / "journal").glob("*.rows")) == []


def test_a_gateway_begins_without_its_database(
    tmp_path: Path, upstream: Recorder, database: Postgres
) -> None:
    """Tokens of the config work at once, those of the database once it has started."""
    database.stop()
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=stores(database.url))
    with gateway(tmp_path, config) as front:
        assert "the database is unavailable" in front.output()
        assert [ask(front.port, chat()).status for _ in range(5)] == [200] * 5
        unknown = ask(front.port, chat(token="mw-nobody"))
        assert unknown.status == 503
        assert unknown.json()["error"]["code"] == "store_unavailable"
        assert unknown.value("retry-after") == "1"
        database.start()
        books = Books(tmp_path, database.url)
        until(lambda: len(ids_in_database(books)) == 6, "the rows of before", 40)
        until(lambda: ask(front.port, chat(token="mw-nobody")).status == 401, "a look-up")


def ids_in_database(books: Books) -> list[str]:
    """The ids of the rows; none before the tables exist."""
    try:
        return books.column()
    except Exception as error:
        if "no tables" in str(error):
            return []
        raise

"""The recorder: a process beside the workers that may die at any time, as heavy workers may."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.books import Books
from tests.support.crowd import Traffic, traffic
from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.running import Running, gateway, modelway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

STORES = 'stores: {records: "sqlite:///records.db", token_ttl: 1s}\n'
HEAVY = "heavy: {processes: 1, above: 1KB}"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = answer(json.dumps(COMPLETION).encode())
        yield recording


def token(folder: Path, name: str) -> str:
    result = modelway("token", "create", "--name", name, cwd=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def metric(running: Running, name: str) -> float:
    """The value of a metric without labels."""
    page = ask(running.telemetry, request("/metrics")).body.decode()
    (line,) = [line for line in page.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def libraries(pid: int) -> set[str]:
    """Which libraries of the database a process has loaded."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return {name for name in ("sqlalchemy", "_sqlite3", "psycopg") if name in maps}


def has_answers(load: Traffic, count: int) -> bool:
    return load.count(200) >= count


def is_replaced(running: Running, pid: int) -> bool:
    """Whether there is a recorder, and not this one."""
    return running.recorders() not in ([], [pid])


def is_known(running: Running, secret: str) -> bool:
    return ask(running.port, chat(token=secret)).status == 200


def test_only_the_recorder_uses_the_database(tmp_path: Path, upstream: Recorder) -> None:
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=STORES, workers=2)
    with gateway(tmp_path, config, warm=False) as front:
        secret = token(tmp_path, "kept")
        large = chat(token=secret, filling="x" * 200_000)
        for data in (chat(token=secret), large):  # the second makes the heavy worker's application
            assert ask(front.port, data).status == 200
        (process,) = front.recorders()
        others = [front.process.pid, *front.workers(), *front.workers(heavy=True)]
        assert len(others) == 4
        assert [libraries(pid) for pid in others] == [set()] * 4
        assert libraries(process) == {"sqlalchemy", "_sqlite3"}
        until(lambda: metric(front, "modelway_ledger_rows_shipped_total") == 2, "two rows")
        assert metric(front, "modelway_ledger_lag_rows") == 0
        assert metric(front, "modelway_ledger_rows_lost_total") == 0
        assert metric(front, "modelway_workers") == 2
        listed = modelway("reload", cwd=tmp_path)
        assert listed.returncode == 0, listed.stderr
        assert listed.stdout.count("serves since") == 3, listed.stdout


def test_a_recorder_killed_under_load_costs_no_row_and_no_request(
    tmp_path: Path, upstream: Recorder
) -> None:
    """Tokens that no worker knows yet are looked up by the next recorder."""
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=STORES, workers=2)
    with gateway(tmp_path, config) as front:
        secret, *more = [token(tmp_path, f"token-{number}") for number in range(4)]
        with traffic(front.port, chat(token=secret), 4) as load:
            for number, fresh in enumerate(more, 1):
                until(partial(has_answers, load, number * 100), "answers")
                (pid,) = until(front.recorders, "a recorder")
                os.kill(pid, signal.SIGKILL)
                until(partial(is_replaced, front, pid), "another one", 40)
                until(partial(is_known, front, fresh), "an answer for another caller")
            until(lambda: load.count(200) >= 400, "answers after the last kill")
        assert set(load.ids) == {200}, {k: len(v) for k, v in load.ids.items()}
        assert not load.broken
        books = Books(tmp_path)
        until(lambda: set(load.ids[200]) <= set(books.column()), "all rows")
        assert len(set(books.column())) == len(books.column())
        assert front.output().count("has ended; the next one starts in") == 3


def test_a_heavy_worker_killed_under_load_costs_its_own_requests_only(
    tmp_path: Path, upstream: Recorder
) -> None:
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=STORES)
    config = config.replace("workers: 2", f"workers: 1, {HEAVY}")
    large = chat(filling="x" * 2_000)
    with (
        gateway(tmp_path, config) as front,
        traffic(front.port, chat(), 2) as small_load,
        traffic(front.port, large, 2) as large_load,
    ):
        for number in range(1, 4):
            until(partial(has_answers, large_load, number * 30), "large answers")
            os.kill(until(lambda: front.workers(heavy=True), "one")[0], signal.SIGKILL)
        until(lambda: large_load.count(200) >= 120, "large answers after the last kill")
        until(lambda: small_load.count(200) >= 200, "small answers")
    assert set(small_load.ids) == {200}
    assert not small_load.broken
    failed = sum(len(ids) for status, ids in large_load.ids.items() if status != 200)
    assert failed + large_load.lost <= 2 * 3, "those in the process that was killed"
    answered = {*small_load.ids[200], *large_load.ids[200]}
    with gateway(tmp_path, config):
        books = Books(tmp_path)
        until(lambda: answered <= set(books.column()), "all rows")
    assert len(set(books.column())) == len(books.column())


def test_a_recorder_outlives_a_master_that_is_killed(tmp_path: Path, upstream: Recorder) -> None:
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=STORES, workers=1)
    with gateway(tmp_path, config) as front:
        with traffic(front.port, chat(), 2) as load:
            until(lambda: load.count(200) >= 50, "answers")
            (pid,) = front.recorders()
            front.process.kill()
            front.process.wait(30)
        until(lambda: not Path(f"/proc/{pid}").exists(), "the end of the last process")
        assert set(load.ids[200]) <= set(Books(tmp_path).column())
        assert list((tmp_path / "var" / "journal").glob("*.rows")) == []


def test_a_reload_brings_a_recorder_of_its_own(tmp_path: Path, upstream: Recorder) -> None:
    """Rows of the new config go to its database, and those of the old one are not lost."""
    config = project(tmp_path, upstream.url, {"chat": "[]"}, more=STORES, workers=1)
    with gateway(tmp_path, config) as front:
        first = ask(front.port, chat())
        (old,) = front.recorders()
        path = tmp_path / "gateway.yaml"
        path.write_text(path.read_text().replace("records.db", "other.db"))
        result = modelway("reload", cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        until(lambda: len(front.recorders()) == 1 and front.recorders() != [old], "the new one")
        second = ask(front.port, chat())
        ids = [response.value("x-request-id") for response in (first, second)]
        other = Books(tmp_path, f"sqlite:///{tmp_path}/other.db")
        until(lambda: ids[1] in other.column(), "the second row")
        until(lambda: {*Books(tmp_path).column(), *other.column()} == set(ids), "both rows")
        path.write_text(path.read_text().replace("stores:", "# stores:"))
        assert modelway("reload", cwd=tmp_path).returncode == 0
        until(lambda: front.recorders() == [], "none without a database")
        assert ask(front.port, chat()).status == 200

"""The recorder of a config ships what workers write, and looks up tokens for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import gevent
import pytest

from engine.app.services.recorder_work import run_recorder
from engine.app.services.telemetry import WorkerTelemetry
from engine.app.services.worker_services import prepare, services_of
from engine.config.config import Config
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.process.channel import Channel
from engine.stores.database import tokens
from engine.stores.database.open_database import open_database
from engine.stores.ledger.journal_segments import files
from engine.stores.ledger.metrics import LEDGER_LOST, LEDGER_SHIPPED
from engine.telemetry.health import Health
from engine.values.metric import Metric
from tests.support.exchanges import new_exchange
from tests.support.waiting import PATIENCE

DIGEST = "a" * 64


@pytest.fixture
def telemetry(monkeypatch: pytest.MonkeyPatch) -> WorkerTelemetry:
    """That of the recorder, which leaves the log of the tests alone."""
    parts = WorkerTelemetry()
    monkeypatch.setattr(
        "engine.app.services.recorder_work.recorder_telemetry", lambda config, folder: parts
    )
    return parts


@pytest.fixture
def settings(config: Callable[[str], Config], tmp_path: Path) -> Config:
    settings = config("stores: {records: 'sqlite:///records.db'}\n")
    assert prepare(settings) == ""
    database = open_database(f"sqlite:///{tmp_path}/records.db")
    tokens.add(database, [tokens.Token("kept", DIGEST, 1.0)])
    database.close()
    return settings


@pytest.fixture
def worker(settings: Config, telemetry: WorkerTelemetry) -> Iterator[Services]:
    """A worker, with a recorder beside it that ends with it."""
    channel = Channel()
    recorder = gevent.spawn(run_recorder, settings, None, channel)
    services = services_of(Plan(settings, ()), recorder=channel)
    with gevent.Timeout(PATIENCE):
        yield services
        services.close()
        channel.keep_receiving()
        recorder.get()
    channel.close()


def finish_request(services: Services, name: str) -> None:
    exchange = new_exchange("GET", "/", "", {}, name, operation="shop.listItems")
    for observer in services.observers:
        observer(exchange)


def rows(folder: Path) -> list[str]:
    connection = sqlite3.connect(folder / "records.db")
    ids = [name for (name,) in connection.execute("SELECT id FROM usage ORDER BY id")]
    connection.close()
    return ids


def samples(parts: WorkerTelemetry) -> dict[Metric, float]:
    return {metric: value for collect in parts.collectors for metric, _, value in collect()}


def test_rows_are_shipped_while_the_worker_lives(
    worker: Services, telemetry: WorkerTelemetry, tmp_path: Path
) -> None:
    finish_request(worker, "req_1")
    while not samples(telemetry).get(LEDGER_SHIPPED):
        gevent.sleep(0.01)
    assert rows(tmp_path) == ["req_1"]
    assert LEDGER_LOST not in samples(telemetry)  # the worker knows


def test_tokens_are_looked_up(worker: Services) -> None:
    caller = worker.tokens.get(DIGEST)
    assert caller is not None
    assert caller.name == "kept"
    assert worker.tokens.get("b" * 64) is None


def test_the_database_is_reached_through_it(worker: Services) -> None:
    assert isinstance(worker.health, Health)
    assert worker.health.ready()
    check = worker.health.checks["records"]
    check.refresh()
    assert check.error == ""


def test_it_ships_the_rest_when_no_worker_is_left(
    settings: Config, telemetry: WorkerTelemetry, tmp_path: Path
) -> None:
    channel = Channel()
    services = services_of(Plan(settings, ()), recorder=channel)
    for number in range(3):
        finish_request(services, f"req_{number}")
    services.close()
    channel.keep_receiving()
    with gevent.Timeout(PATIENCE):
        run_recorder(settings, None, channel)
    channel.close()
    assert rows(tmp_path) == ["req_0", "req_1", "req_2"]
    assert files(settings.stores.journal) == []

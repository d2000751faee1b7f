"""What the metrics ask for, of parts that a worker has."""

from __future__ import annotations

from types import SimpleNamespace

from engine.app import gauges
from engine.telemetry.metrics import definitions
from engine.upstream.breaker import Breaker


def read(reader):
    return {(metric.name, *labels): value for metric, labels, value in reader()}


def test_a_worker_tells_of_itself():
    found = read(gauges.of_process("1.2"))
    assert found["modelway_workers",] == 1.0
    assert found["modelway_cpu_seconds_total",] > 0
    assert found["modelway_resident_memory_bytes",] > 1_000_000
    assert [value for key, value in found.items() if key[:2] == ("modelway_build_info", "1.2")]


def test_breakers_and_connections_are_told_by_upstream(monkeypatch):
    monkeypatch.setattr(gauges.time, "monotonic", lambda: 1005.0)
    opened, half = Breaker(1, 30, 30), Breaker(1, 30, 30)
    opened.failed(1000.0)
    half.failed(900.0)
    breakers = {("gpt", "m"): opened, ("gpt-*", ""): half, ("", ""): Breaker(1, 30, 30)}
    upstream = SimpleNamespace(breakers=breakers, client=SimpleNamespace(connections=(3, 2)))
    found = read(gauges.of_upstreams({"one": upstream}))
    name = definitions.BREAKER.name
    assert found[name, "one", "gpt/m"] == 2
    assert found[name, "one", "gpt-*"] == 1
    assert found[name, "one", ""] == 0
    assert found[definitions.POOL.name, "one", "idle"] == 3
    assert found[definitions.POOL.name, "one", "busy"] == 2


def test_what_is_under_way_is_told():
    found = read(gauges.of_lifecycle(lambda: 4, lambda: 2))
    assert found == {(definitions.IN_FLIGHT.name,): 4, (definitions.SESSIONS.name,): 2}


def test_the_ledger_tells_how_far_the_database_is_behind():
    shipper = SimpleNamespace(
        lag=lambda: SimpleNamespace(rows=7, seconds=1.5), refused=1, shipped=9
    )
    found = read(gauges.of_ledger(SimpleNamespace(lost=2), shipper))
    assert list(found.values()) == [7, 1.5, 2, 1, 9]


def test_the_directory_tells_of_its_look_ups():
    directory = SimpleNamespace(asked=5, failed=1, stale=2, unknown=3, away=True)
    found = read(gauges.of_directory(directory))
    assert found[definitions.LOOKUPS.name, "stale"] == 2
    assert found[definitions.RECORDS_AWAY.name,] == 1.0

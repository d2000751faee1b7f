"""The states of breakers and the connections are collected by upstream."""

from __future__ import annotations

from types import SimpleNamespace

from engine.telemetry.metrics import upstreams
from engine.upstream.breaker import CircuitBreaker


def test_breakers_and_connections_are_collected_by_upstream(monkeypatch):
    monkeypatch.setattr(upstreams.time, "monotonic", lambda: 1005.0)
    opened, half = CircuitBreaker(1, 30, 30), CircuitBreaker(1, 30, 30)
    opened.failed(1000.0)
    half.failed(900.0)
    breakers = {("gpt", "m"): opened, ("gpt-*", ""): half, ("", ""): CircuitBreaker(1, 30, 30)}
    upstream = SimpleNamespace(breakers=breakers, client=SimpleNamespace(connections=(3, 2)))
    collect = upstreams.upstream_collector({"one": upstream})
    values = {(metric, *labels): value for metric, labels, value in collect()}
    assert values == {
        (upstreams.BREAKER, "one", "gpt/m"): 2,
        (upstreams.BREAKER, "one", "gpt-*"): 1,
        (upstreams.BREAKER, "one", ""): 0,
        (upstreams.POOL, "one", "idle"): 3,
        (upstreams.POOL, "one", "busy"): 2,
    }

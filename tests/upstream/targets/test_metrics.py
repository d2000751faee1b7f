"""Breakers and connections are collected by upstream."""

from __future__ import annotations

from types import SimpleNamespace

from engine.config.upstreams import BreakerConfig
from engine.upstream.targets import metrics as upstreams
from engine.upstream.targets.breaker import CircuitBreaker


def test_breakers_and_connections_are_collected_by_upstream(monkeypatch):
    monkeypatch.setattr(upstreams.time, "monotonic", lambda: 1005.0)
    opened, half = (
        CircuitBreaker(BreakerConfig(1, 30, 30)),
        CircuitBreaker(BreakerConfig(1, 30, 30)),
    )
    opened.failed(1000.0)
    half.failed(900.0)
    closed = CircuitBreaker(BreakerConfig(1, 30, 30))
    closed.succeeded()
    breakers = {("gpt", "m"): opened, ("gpt-*", ""): half, ("", ""): closed}
    states = {
        entry: SimpleNamespace(breaker=breaker, load=None) for entry, breaker in breakers.items()
    }
    upstream = SimpleNamespace(states=states, client=SimpleNamespace(connections=(3, 2)))
    collect = upstreams.upstream_collector({"one": upstream})
    values = {(metric, *labels): value for metric, labels, value in collect()}
    assert values == {
        (upstreams.BREAKER, "one", "gpt/m"): 2,
        (upstreams.BREAKER, "one", "gpt-*"): 1,
        (upstreams.BREAKER, "one", ""): 0,
        (upstreams.POOL, "one", "idle"): 3,
        (upstreams.POOL, "one", "busy"): 2,
    }


def test_unused_upstreams_have_no_samples():
    state = SimpleNamespace(breaker=CircuitBreaker(BreakerConfig(1, 30, 30)), load=None)
    upstream = SimpleNamespace(
        states={("gpt", "m"): state}, client=SimpleNamespace(connections=(0, 0))
    )
    collect = upstreams.upstream_collector({"one": upstream})
    assert list(collect()) == []
    upstream.client.connections = (0, 1)
    assert [value for _, _, value in collect()] == [0, 1]
    upstream.client.connections = (0, 0)
    assert [value for _, _, value in collect()] == [0, 0], "the last one is closed"


def test_a_target_whose_addresses_are_known_has_no_samples_of_its_own():
    breaker = CircuitBreaker(BreakerConfig(1, 30, 30))
    breaker.succeeded()
    keys = [("a", "m"), ("a", "m", "10.0.0.1:80"), ("b", ""), ("", ""), ("", "", "10.0.0.1:80")]
    states = {key: SimpleNamespace(breaker=breaker, load=None) for key in keys}
    upstream = SimpleNamespace(states=states, client=SimpleNamespace(connections=(0, 0)))
    labels = [labels for _, labels, _ in upstreams.upstream_collector({"one": upstream})()]
    assert labels == [("one", "a/m/10.0.0.1:80"), ("one", "b"), ("one", "10.0.0.1:80")]


def test_addresses_and_failed_lookups_are_collected_where_there_are_some():
    lookups = {
        "unused": SimpleNamespace(addresses=(), failures=0),
        "two": SimpleNamespace(addresses=("a", "b"), failures=0),
        "away": SimpleNamespace(addresses=(), failures=3),
    }
    assert list(upstreams.address_collector(lookups)()) == [
        (upstreams.ADDRESSES, ("two",), 2),
        (upstreams.LOOKUPS_FAILED, ("away",), 3),
    ]


def test_the_load_of_targets_that_are_compared_is_collected():
    moves = {"load": 2, "unavailable": 1}
    load = SimpleNamespace(in_flight=3, times=SimpleNamespace(typical=1.5), moves=moves)
    state = SimpleNamespace(breaker=CircuitBreaker(BreakerConfig(1, 30, 30)), load=load)
    upstream = SimpleNamespace(
        states={("gpt", "m"): state}, client=SimpleNamespace(connections=(0, 0))
    )
    samples = {
        (metric, *labels): v
        for metric, labels, v in upstreams.upstream_collector({"one": upstream})()
    }
    assert samples[upstreams.IN_FLIGHT, "one", "gpt/m"] == 3
    assert samples[upstreams.ANSWER, "one", "gpt/m"] == 1.5
    assert samples[upstreams.MOVES, "one", "gpt/m", "load"] == 2
    assert samples[upstreams.MOVES, "one", "gpt/m", "unavailable"] == 1

"""Where limits are counted, and what decides while Redis does not answer."""

from __future__ import annotations

import pytest

from engine.stores.counters.fallback import FallbackCounters
from engine.stores.counters.memory import MemoryCounters
from engine.stores.counters.redis.counters import RedisCounters

RATED = """
  - {name: rated, sha256: %s, rate: 1/1m}
""" % ("a" * 64)


@pytest.mark.parametrize(
    "more",
    ["policies: [{rate_limit: {requests: 1, per: 1m}}]\n", RATED],
)
def test_limits_are_counted_in_memory(config, opened, more):
    assert isinstance(opened(config(more)).counters, MemoryCounters)


def test_policies_that_count_nothing_need_no_counters(config, opened):
    assert opened(config("policies: [{max_body: 1KB}]\n")).counters is None


def test_redis_is_not_used_before_the_first_request(config, opened):
    more = "stores: {counters: 'redis://127.0.0.1:1/0', on_store_failure: deny}\n"
    services = opened(config(more + "policies: [{concurrency: {requests: 1}}]\n"))
    assert isinstance(services.counters, RedisCounters)
    assert not services.allow_uncounted


@pytest.mark.parametrize(
    ("settings", "kind", "allows"),
    [
        ("", FallbackCounters, False),
        (", on_store_failure: local, machines: 2", FallbackCounters, False),
        (", on_store_failure: allow", RedisCounters, True),
        (", on_store_failure: deny", RedisCounters, False),
    ],
)
def test_on_store_failure_decides_while_redis_does_not_answer(
    config, opened, settings, kind, allows
):
    more = f"stores: {{counters: 'redis://127.0.0.1:1/0'{settings}}}\n"
    services = opened(config(more + "policies: [{concurrency: {requests: 1}}]\n"))
    assert (type(services.counters), services.allow_uncounted) == (kind, allows)

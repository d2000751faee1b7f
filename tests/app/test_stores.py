"""The stores a config asks for, and what happens when one cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.app.stores import is_metered, prepare, services_of
from engine.app.telemetry import WorkerTelemetry
from engine.plan.route import CannotConnect, Plan
from engine.stores.counters.fallback import FallbackCounters
from engine.stores.counters.memory import MemoryCounters
from engine.stores.counters.redis.counters import RedisCounters
from engine.values.caller import digest
from tests.support.running import ALL

RATED = """
  - {name: rated, sha256: %s, rate: 1/1m}
""" % ("a" * 64)


OFF = "telemetry: {access_log: {format: 'off'}, metrics: false}\n"


def test_without_stores_there_is_nothing_but_the_tokens(config, opened):
    settings = config("")
    assert prepare(settings) == ""
    services = opened(settings)
    assert services.tokens.get(digest(ALL)).name == "everything"
    assert (services.counters, list(services.observers)) == (None, [])
    assert not services.allow_uncounted


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


def test_a_folder_of_counters_that_is_not_ours_is_refused(config, monkeypatch, tmp_path):
    def foreign(config: Path, overlays: object = ()) -> Path:
        folder = tmp_path / "open"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        return folder

    monkeypatch.setattr("engine.app.stores.runtime_directory", foreign)
    with pytest.raises(CannotConnect, match="limits cannot be counted"):
        services_of(Plan(config("policies: [{concurrency: {requests: 1}}]\n"), ()))


@pytest.mark.parametrize(
    ("more", "metered"),
    [
        ("", True),  # the access log and the metrics tell of it
        (OFF, False),
        (OFF + "policies: [{max_body: 1KB}]\n", False),
        (OFF + "policies: [{concurrency: {requests: 1}}]\n", True),
        (OFF + "stores: {records: 'sqlite:///records.db'}\n", True),
        ("telemetry: {access_log: {format: 'off'}}\n", True),
        ("telemetry: {metrics: false}\n", True),
    ],
)
def test_usage_is_read_if_a_log_metric_trace_or_limit_needs_it(config, more, metered):
    assert is_metered(Plan(config(more), ())) is metered


def test_shared_state_is_closed_after_the_last_sample_of_metrics(config):
    samples = []
    telemetry = WorkerTelemetry(
        closing=[lambda: samples.append(services.machine.record("a").total(0))]
    )
    services = services_of(Plan(config(""), ()), telemetry)
    services.machine.record("a").add(0, 2)
    services.close()
    assert samples == [2]

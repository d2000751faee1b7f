"""Metrics of upstreams: circuit breakers, connections, addresses and the load of targets."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from engine.upstream.client.dial_order import LookupStatus
from engine.upstream.targets.target import Upstream
from engine.values.metric import Collector, Sample, counter, gauge, target_label

BREAKER = gauge(
    "modelway_breaker_state",
    "upstream target",
    "Circuit breaker of a target that was asked: 0 closed, 1 half-open, 2 open; of several workers "
    "the worst. target is `entry/model` as under models, empty for the targets of a route; the "
    "address of a replica follows: `entry/model/10.0.0.1:8000`.",
    "livemax",
    is_fault=True,
)
POOL = gauge(
    "modelway_pool_connections",
    "upstream state",
    "Connections to each upstream that was used: state is idle or busy.",
)

ADDRESSES = gauge(
    "modelway_upstream_addresses",
    "upstream",
    "Addresses of an upstream by the last lookup that succeeded; the fewest of all workers.",
    "livemin",
)
LOOKUPS_FAILED = counter(
    "modelway_upstream_lookup_failures_total",
    "upstream",
    "Lookups of an upstream's addresses that failed, so that the last answer stayed in use.",
)
IN_FLIGHT = gauge(
    "modelway_target_in_flight",
    "upstream target",
    "Requests in flight at a target, of all workers of the machine, if choose compares targets by "
    "them. target as in modelway_breaker_state.",
    "livemax",
)
ANSWER = gauge(
    "modelway_target_answer_seconds",
    "upstream target",
    "Average seconds for an answer of 200 tokens, if choose compares targets by it; 0 before the "
    "first answer. target as in modelway_breaker_state.",
    "livemax",
)
MOVES = counter(
    "modelway_affinity_moves_total",
    "upstream target reason",
    "Requests of a session that went to another target than the one which affinity gives it: "
    "reason is load (more than its share of the requests in flight), or unavailable (its breaker "
    "is open, it has no free slot, it failed, or it was too slow). target as in "
    "modelway_breaker_state.",
)


MIRRORED = counter(
    "modelway_mirror_requests_total",
    "model result",
    "Copies of requests for a model with a mirror: sent (and answered), failed, or dropped because "
    "there was no room or no target for them. model is the entry under models.",
)


def mirror_collector(counts: Mapping[tuple[str, str], int]) -> Collector:
    """The copies of requests, by model and result."""

    def collect() -> Iterator[Sample]:
        for labels, count in [*counts.items()]:
            yield MIRRORED, labels, count

    return collect


def upstream_collector(upstreams: Mapping[str, Upstream]) -> Collector:
    """The states of circuit breakers and the connections of each upstream that was used: a config
    may have thousands that never are."""
    connected: set[str] = set()

    def collect() -> Iterator[Sample]:
        now = time.monotonic()
        for name, upstream in upstreams.items():
            states = list(upstream.states.items())
            with_addresses = {entry[:2] for entry, _ in states if len(entry) > 2}
            for entry, target in states:
                if not target.breaker.is_used and target.load is None:
                    continue
                if entry in with_addresses:
                    continue  # it was asked before its addresses were known
                labels = (name, target_label(entry))
                yield BREAKER, labels, target.breaker.state(now)
                if target.load is not None:
                    yield IN_FLIGHT, labels, target.load.in_flight
                    yield ANSWER, labels, target.load.times.typical
                    for reason, count in target.load.moves.items():
                        yield MOVES, (*labels, reason), count
            idle, busy = upstream.client.connections
            if idle or busy or name in connected:
                connected.add(name)
                yield POOL, (name, "idle"), idle
                yield POOL, (name, "busy"), busy

    return collect


def address_collector(lookups: Mapping[str, LookupStatus]) -> Collector:
    """The addresses of each upstream that were looked up."""

    def collect() -> Iterator[Sample]:
        for name, lookup in lookups.items():
            if lookup.addresses:
                yield ADDRESSES, (name,), len(lookup.addresses)
            if lookup.failures:
                yield LOOKUPS_FAILED, (name,), lookup.failures

    return collect

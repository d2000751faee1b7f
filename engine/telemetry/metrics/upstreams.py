"""Metrics of upstreams: attempts, retries, circuit breakers, connections."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Protocol

from engine.exchange.record import Attempt
from engine.telemetry.metrics.labels import target_label
from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import Collector, Sample, counter, gauge

ATTEMPTS = counter(
    "modelway_upstream_attempts_total",
    "upstream result",
    "Attempts. result is ok or the class of the failure: connect, reset, 408, 429, 5xx, error, "
    "credential, fatal; cancelled if another attempt of a hedged request was faster.",
)
RETRIES = counter(
    "modelway_upstream_retries_total", "upstream", "Attempts that were not a request's first."
)
BREAKER = gauge(
    "modelway_breaker_state",
    "upstream target",
    "Circuit breaker of a target that was asked: 0 closed, 1 half-open, 2 open; of several workers "
    "the worst. target is `entry/model` as under models, empty for the targets of a route; the "
    "address of a replica follows: `entry/model/10.0.0.1:8000`.",
    "livemax",
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

_result = attrgetter("upstream", "failure")


class CircuitBreaker(Protocol):
    """A circuit breaker."""

    def state(self, now: float) -> int:
        """0 closed, 1 half-open, 2 open; `now` on the monotonic clock."""

    @property
    def is_used(self) -> bool:
        """Whether it has recorded a success or a failure."""


class Client(Protocol):
    """An HTTP client with a connection pool."""

    @property
    def connections(self) -> tuple[int, int]:
        """The numbers of idle and busy connections."""


class Times(Protocol):
    """How fast a target answers."""

    @property
    def typical(self) -> float: ...


class Load(Protocol):
    """The load of a target: its requests in flight on the machine, and how fast it answers."""

    @property
    def in_flight(self) -> int: ...
    @property
    def times(self) -> Times: ...


class TargetState(Protocol):
    """The state of a target; `load` is None if no strategy compares it."""

    @property
    def breaker(self) -> CircuitBreaker: ...
    @property
    def load(self) -> Load | None: ...


class Upstream(Protocol):
    """An upstream: its client, and the states of its targets by entry, model and address."""

    @property
    def client(self) -> Client: ...
    @property
    def states(self) -> Mapping[tuple[str, ...], TargetState]: ...


class Lookup(Protocol):
    """The addresses of an upstream, and how many lookups failed."""

    @property
    def addresses(self) -> Sequence[object]: ...
    @property
    def failures(self) -> int: ...


def record_attempts(cells: Cells, attempts: Iterable[Attempt]) -> None:
    """Record finished attempts."""
    for (upstream, failure), count in Counter(map(_result, attempts)).items():
        cells.add(ATTEMPTS, (upstream, failure or "ok"), count)


def record_retries(cells: Cells, attempts: Sequence[Attempt]) -> None:
    """Record the attempts of a request after its first one; they may be at several upstreams."""
    for attempt in attempts[1:]:
        cells.add(RETRIES, (attempt.upstream,), 1.0)


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
            idle, busy = upstream.client.connections
            if idle or busy or name in connected:
                connected.add(name)
                yield POOL, (name, "idle"), idle
                yield POOL, (name, "busy"), busy

    return collect


def address_collector(lookups: Mapping[str, Lookup]) -> Collector:
    """The addresses of each upstream that were looked up."""

    def collect() -> Iterator[Sample]:
        for name, lookup in lookups.items():
            if lookup.addresses:
                yield ADDRESSES, (name,), len(lookup.addresses)
            if lookup.failures:
                yield LOOKUPS_FAILED, (name,), lookup.failures

    return collect

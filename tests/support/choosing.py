"""A simulation of a model's replicas: requests arrive, a strategy picks, replicas answer later.

Times are simulated. Several workers of one machine take turns, each
with its own strategy; they share the state of the machine.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.config.models import Choice
from engine.exchange.exchange import Exchange
from engine.exchange.request_record import RequestRecord
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.machine_state import LocalState
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange
from tests.support.upstreams import EVENTS, JSON, Client, FakeResponse, target


@dataclass(slots=True)
class Replica:
    """How a replica answers: `seconds` on average until the first content, then `per_token`; with
    a `failure` it fails instead after `seconds`. It may change while the simulation runs."""

    seconds: float = 0.1
    per_token: float = 0.0
    weight: float = 1.0
    failure: str = ""
    status: int = 200


@dataclass(slots=True)
class Result:
    """How many requests each replica got, and the seconds that each request took."""

    requests: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    most_in_flight: Counter[int] = field(default_factory=Counter)

    def share(self, replica: int) -> float:
        return self.requests[replica] / self.requests.total()

    def quantile(self, share: float) -> float:
        return sorted(self.seconds)[int(share * len(self.seconds))]


class Machine:
    """The workers of one machine in front of replicas."""

    def __init__(
        self, replicas: Sequence[Replica], choice: Choice, workers: int = 4, seed: int = 7
    ) -> None:
        self.random = random.Random(seed)
        self.replicas = replicas
        self.now = 1000.0
        self.state = LocalState()
        upstream_names = [f"replica{n}" for n in range(len(replicas))]
        self.groups: list[TargetGroup] = []
        self.index: dict[Target, int] = {}
        for _ in range(workers):
            services = Services(
                dice=self.random.random, machine=self.state, monotonic=lambda: self.now
            )
            targets = [
                target(Client(), weight=replica.weight, name=name)
                for name, replica in zip(upstream_names, replicas, strict=True)
            ]
            self.groups.append(TargetGroup(targets, choose.build(services, choice)))
            self.index.update({each: n for n, each in enumerate(targets)})
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def run(
        self,
        requests: int,
        rate: float,
        *,
        stream: bool = True,
        tokens: Callable[[], int] = lambda: 20,
        exchanges: Callable[[], Exchange] = new_exchange,
        leave: Sequence[int] = (),
        on_pick: Callable[[int], None] = lambda replica: None,
    ) -> Result:
        """So many requests that arrive at `rate` per second at random moments. Replicas in `leave`
        are out. `on_pick` is called with the replica of each attempt."""
        self._on_pick = on_pick
        result = Result()
        at = self.now
        for _ in range(requests):
            at += self.random.expovariate(rate)
            self._at(at, lambda: self._arrive(result, exchanges(), stream, tokens(), leave))
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()
        return result

    def _at(self, moment: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (moment, next(self._order), event))

    def _arrive(
        self, result: Result, exchange: Exchange, stream: bool, tokens: int, leave: Sequence[int]
    ) -> None:
        picks = self.random.choice(self.groups).picks(exchange)
        self._attempt(result, picks, self.now, stream, tokens, leave)

    def _attempt(
        self,
        result: Result,
        picks: Iterator[Target],
        arrival: float,
        stream: bool,
        tokens: int,
        leave: Sequence[int],
    ) -> None:
        on_pick = next((each for each in picks if self.index[each] not in leave), None)
        if on_pick is None:
            result.seconds.append(self.now - arrival)
            return
        number = self.index[on_pick]
        replica = self.replicas[number]
        result.requests[number] += 1
        self._on_pick(number)
        record = RequestRecord()
        attempt = OpenAttempt(on_pick.state.observers, record, lambda: self.now)
        load = on_pick.state.load
        if load is not None:
            in_flight = load.in_flight
            result.most_in_flight[number] = max(result.most_in_flight[number], in_flight)
        first = replica.seconds * self.random.uniform(0.8, 1.2)
        attempt.response = self._response(replica, stream)

        def fail() -> None:
            attempt.failed(replica.failure)
            attempt.close()
            self._attempt(result, picks, arrival, stream, tokens, leave)

        def answer() -> None:
            if stream or replica.status != 200:
                attempt.answered()
            self._at(self.now + tokens * replica.per_token, end)

        def end() -> None:
            if attempt.first_content is None:
                attempt.answered()
            record.response_end, record.usage = self.now, Usage(output=tokens)
            attempt.close()
            result.seconds.append(self.now - arrival)

        self._at(self.now + first, fail if replica.failure else answer)

    def _response(self, replica: Replica, stream: bool) -> Any:
        return FakeResponse(replica.status, EVENTS if stream else JSON)

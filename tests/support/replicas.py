"""A simulation of replicas behind a worker, on a simulated clock."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.config.health import EjectionConfig
from engine.exchange.request_record import RequestRecord
from engine.upstream.health.outlier_ejection import INTERVAL, Group, Judge
from engine.upstream.health.target_health import HealthSettings, TargetHealth
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.machine_state import LocalState, MachineState

Behaviour = Callable[[float], tuple[float, bool] | None]
"""What a replica does with a request that arrives at this time: the seconds until it answers and
whether that is a success; None for one that never answers."""


def answers(seconds: float) -> Behaviour:
    """A replica that answers every request after so many seconds."""
    return lambda now: (seconds, True)


def fails(now: float) -> tuple[float, bool]:
    """A replica that refuses every connection."""
    return 0.001, False


def hangs(now: float) -> None:
    """A replica that accepts every request and answers none."""


def open_attempt(target: TargetHealth, now: float) -> OpenAttempt:
    """An attempt that begins at this time."""
    attempt = OpenAttempt([], RequestRecord())
    attempt.start = now
    target.began(attempt)
    return attempt


def succeed(target: TargetHealth, attempt: OpenAttempt, now: float) -> None:
    """The attempt has its first content, and ends."""
    attempt.first_content = now
    target.answered(attempt)
    target.ended(attempt)


def fail(target: TargetHealth, attempt: OpenAttempt, failure: str = "connect") -> None:
    """The attempt fails, and ends."""
    attempt.failure = failure
    target.failed(attempt)
    target.ended(attempt)


class CountedGroup(Group):
    """A group that counts its judgements in `looks`."""

    looks = 0

    def judge(self, now: float) -> bool:
        self.looks += 1
        return super().judge(now)


@dataclass
class Worker:
    """The targets and the judge of one worker. Workers with one `machine` share their state."""

    machine: MachineState
    names: Sequence[str]
    config: EjectionConfig = field(default_factory=EjectionConfig)
    dice: Callable[[], float] = field(default_factory=lambda: random.Random(1).random)

    def __post_init__(self) -> None:
        used: set[TargetHealth] = set()
        self.targets = [
            TargetHealth(name, HealthSettings("u", self.machine, self.config, used, self.dice))
            for name in self.names
        ]
        self.group = CountedGroup(self.targets, self.machine)
        for target in self.targets:
            target.groups = (self.group,)
        self.judge = Judge(used)

    def out(self, now: float) -> list[str]:
        """The names of the targets that are out."""
        return [target.name for target in self.targets if target.is_out(now)]


class Simulation:
    """Requests at an even rate to replicas of equal weight; a failed one goes to the next.

    `attempts` counts the attempts by replica, `timeline` by second and replica; `errors` counts the
    requests that no replica answered; `latencies` has the seconds of each answer."""

    def __init__(self, worker: Worker, behaviours: Sequence[Behaviour], rate: float) -> None:
        self.worker = worker
        self.now = 1000.0
        self.attempts: Counter[str] = Counter()
        self.errors = 0
        self.latencies: list[float] = []
        self.timeline: list[Counter[str]] = []
        self._behaviours = behaviours
        self._rate = rate
        self._dice = random.Random(2)
        self._ends: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def run(self, seconds: float) -> Simulation:
        """Go on for so many seconds; each one ends with a judgement."""
        for _ in range(int(seconds / INTERVAL)):
            self.timeline.append(Counter())
            start = self.now
            for index in range(int(self._rate * INTERVAL)):
                self._move(start + index / self._rate)
                self._request()
            self._move(start + INTERVAL)
            self.worker.judge.step(self.now)
        return self

    def _request(self) -> None:
        targets = list(self.worker.targets)
        self._dice.shuffle(targets)
        last = {target for target in targets if target.turn(self.now)}
        self._attempt(self.now, sorted(targets, key=last.__contains__))

    def _attempt(self, start: float, targets: Sequence[TargetHealth]) -> None:
        if not targets:
            self.errors += 1
            return
        target, *others = targets
        self.attempts[target.name] += 1
        self.timeline[-1][target.name] += 1
        attempt = open_attempt(target, self.now)
        result = self._behaviours[self.worker.targets.index(target)](self.now)
        if result is None:
            return
        seconds, success = result

        def end() -> None:
            if success:
                succeed(target, attempt, self.now)
                self.latencies.append(self.now - start)
            else:
                fail(target, attempt)
                self._attempt(start, others)

        heapq.heappush(self._ends, (self.now + seconds, next(self._numbers), end))

    def _move(self, moment: float) -> None:
        while self._ends and self._ends[0][0] <= moment:
            self.now, _, end = heapq.heappop(self._ends)
            end()
        self.now = moment


def simulate(behaviours: Sequence[Behaviour], rate: float = 40.0, **options: object) -> Simulation:
    """A simulation of one worker; `options` are those of Worker."""
    names = [f"r{index}" for index in range(len(behaviours))]
    return Simulation(Worker(LocalState(), names, **options), behaviours, rate)  # type: ignore[arg-type]

"""CPU of choosing a target: the first pick of each strategy among 100 targets, with the state of
one worker, and with the state that four workers of a machine share.

    python -m benchmarks.choose [targets]

The strategies take turns; the figure is the best turn. Exit status 1 if a pick takes
more than 10 us.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from engine.config.models import Choice
from engine.exchange.exchange import Exchange
from engine.exchange.request_record import RequestRecord
from engine.exchange.stage_services import Services
from engine.machine.state import SharedState
from engine.upstream import choose
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.machine_state import LocalState, MachineState
from engine.values.price import price_of
from engine.values.price_list import Prices
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, target

BOUND = 10.0
TURNS = 200
PICKS = 100
WORKERS = 4
PROMPT = [{"role": "system", "content": "You are an assistant. " * 200}]
STRATEGIES = {
    "weighted": Choice("weighted"),
    "least_busy": Choice("least_busy"),
    "fastest": Choice("fastest"),
    "cheapest": Choice("cheapest"),
    "affinity, header": Choice("affinity", "$request.header.session-id"),
    "affinity, body": Choice("affinity", "$request.body#/user"),
    "affinity, prompt": Choice("affinity", {"prompt": 1000}),
    "affinity, header, weights": Choice("affinity", "$request.header.session-id"),
}


def group_of(name: str, choice: Choice, machine: MachineState, count: int) -> TargetGroup:
    """A group whose targets are busy, and whose times are known."""
    names = [f"{name}/{number}" for number in range(count)]
    prices = Prices(
        {}, {upstream: {"m": price_of({"input": n + 1})} for n, upstream in enumerate(names)}
    )
    weights = [1 + number % 3 if name.endswith("weights") else 1 for number in range(count)]
    targets = [
        target(Client(), "m", weight, name=upstream)
        for upstream, weight in zip(names, weights, strict=True)
    ]
    services = Services(dice=random.Random(7).random, machine=machine, prices=prices)
    group = TargetGroup(targets, choose.build(services, choice))
    for number, member in enumerate(targets):
        for _ in range(8 + number % 4):
            OpenAttempt(member.state.observers, RequestRecord())
        if member.state.load is not None:
            member.state.load.times.stream_began(0.1 + number / 100, time.monotonic())
    return group


def requests() -> list[Exchange]:
    """Requests of different sessions."""
    return [
        new_exchange(
            environ={"HTTP_SESSION_ID": f"session-{number}"},
            value={"model": "m", "user": f"user-{number}", "messages": PROMPT},
            media_type="application/json",
            model="m",
        )
        for number in range(PICKS)
    ]


def seconds_of(group: TargetGroup, exchanges: list[Exchange]) -> float:
    """CPU seconds of the first picks of requests."""
    start = time.process_time()
    for exchange in exchanges:
        next(group.picks(exchange))
    return time.process_time() - start


def microseconds_of(machine: Callable[[], MachineState], count: int) -> dict[str, float]:
    """Microseconds of CPU of the first pick, by strategy."""
    groups = {name: group_of(name, choice, machine(), count) for name, choice in STRATEGIES.items()}
    best = dict.fromkeys(groups, float("inf"))
    exchanges = requests()
    for _ in range(TURNS):
        for name, group in groups.items():
            best[name] = min(best[name], seconds_of(group, exchanges))
    return {name: 1e6 * seconds / PICKS for name, seconds in best.items()}


def main(count: int) -> None:
    alone = microseconds_of(LocalState, count)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        workers = [SharedState(folder) for _ in range(WORKERS)]
        for worker in workers:
            stack.callback(worker.close)
        shared = microseconds_of(lambda: workers[0], count)
    print(f"the first pick among {count} targets, us of CPU")
    print(f"{'':28}{'one worker':>12}{f'{WORKERS} workers':>12}")
    for name in STRATEGIES:
        print(f"{name:28}{alone[name]:12.1f}{shared[name]:12.1f}")
    slowest = max(*alone.values(), *shared.values())
    if slowest > BOUND:
        sys.exit(f"a pick takes {slowest:.1f} us; at most {BOUND:g} are allowed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

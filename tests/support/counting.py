"""Workers that count, as processes of their own: `python -m tests.support.counting PLACE MODE ...`.

PLACE is a path for Memory or a URL for Redis. A worker says `ready`, and begins with the next line
of its input; what it says further is one JSON value in a line.

    passing TAKES AMOUNT   takes so often, says how many passed
    holding COUNT AMOUNT   takes so many slots, says how many it got, and holds them
    killing ROUNDS         forks workers that take and settle, kills each at any moment, and says
                           what was found after each: [seconds for a take, three counts]
    watching               takes in a loop, says what came of each: [passed or words, seconds]
"""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import json  # noqa: E402
import os  # noqa: E402
import random  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

from engine.stores.counters import Counters, CountersAway  # noqa: E402
from engine.stores.counters.ahead import Ahead  # noqa: E402
from engine.stores.counters.memory import Memory  # noqa: E402
from engine.stores.counters.redis import Redis  # noqa: E402
from tests.support.counters import PATIENT, Limit, left, take  # noqa: E402

ENDLESS = 10**12
TOGETHER = [
    Limit("rate:killed", ENDLESS, 3600.0),
    Limit("budget:killed", ENDLESS, 86400.0),
    Limit("slots:killed", ENDLESS, 0),
]


def say(value: object) -> None:
    print(json.dumps(value), flush=True)


def passing(store: Counters, takes: int, amount: int) -> None:
    limits = [Limit("rate:all", amount, 3600.0), Limit("budget:all", amount * 9, 7200.0, 3)]
    say(sum(take(store, limits).denied is None for _ in range(takes)))


def holding(store: Counters, count: int, amount: int) -> None:
    limits = [Limit("slots:held", amount, 0)]
    say(sum(take(store, limits).denied is None for _ in range(count)))
    while True:
        time.sleep(1)


def endless(make: Callable[[], Counters], started: int) -> None:
    """Until killed. Every request counts 1 of each window in the end, so the two stay equal."""
    store = make()
    for number in range(10**9):
        taken = take(store, TOGETHER)
        if number == 20:
            os.write(started, b".")
        store.settle(taken.receipt, (1, 1, 0))


def look(make: Callable[[], Counters], killed: Callable[[], None]) -> None:
    """A take as long as the other lives; what is counted when it does no more."""
    store = make()
    begun = time.monotonic()
    store.settle(take(store, TOGETHER).receipt, (1, 1, 0))
    seconds = time.monotonic() - begun
    killed()
    say([seconds, *(ENDLESS - remaining for remaining in left(store, TOGETHER))])
    store.close()


def forked(work: Callable[[], None]) -> int:
    """A child that does this and nothing else."""
    child = os.fork()
    if child:
        return child
    failed = True
    try:
        work()
        failed = False
    finally:
        if failed:
            traceback.print_exc()
        os._exit(failed)


def killing(make: Callable[[], Counters], rounds: int) -> None:
    """Every store is made by the process that uses it: this one has none to share."""
    dice = random.Random(5)
    for _ in range(rounds):
        heard, started = os.pipe()
        one, other = (forked(partial(endless, make, started)) for _ in range(2))
        os.close(started)
        os.read(heard, 1)
        time.sleep(dice.random() * 0.01)
        os.kill(one, signal.SIGKILL)
        os.waitpid(one, 0)

        (taken, took), (over, gone) = os.pipe(), os.pipe()

        def killed(took: int = took, over: int = over) -> None:
            os.write(took, b".")
            os.read(over, 1)

        looking = forked(partial(look, make, killed))
        os.close(took)
        os.read(taken, 1)
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
        os.write(gone, b".")
        if os.waitpid(looking, 0)[1]:
            raise SystemExit("a look has failed")
        for end in (heard, taken, over, gone):
            os.close(end)


def watching(store: Counters) -> None:
    while True:
        begun = time.monotonic()
        try:
            taken = take(store, TOGETHER)
            store.settle(taken.receipt, (1, 2, 0))
            said: object = taken.denied is None
        except CountersAway as error:
            said = str(error)
        say([said, time.monotonic() - begun])
        time.sleep(0.005)


MODES = {"passing": passing, "holding": holding, "watching": watching}


def main(place: str, mode: str, *numbers: str) -> None:
    if "://" in place:
        patient = {} if mode == "watching" else {"limit": PATIENT}
        make: Callable[[], Counters] = partial(Redis, place, lease=1.0, **patient)
    else:
        make = partial(_memory, Path(place))
    print("ready", flush=True)
    sys.stdin.readline()
    if mode == "killing":
        killing(make, *map(int, numbers))
        return
    store = make()
    MODES[mode](store, *map(int, numbers))
    store.close()


def _memory(path: Path) -> Counters:
    return Ahead(Memory(path))


if __name__ == "__main__":
    main(*sys.argv[1:])

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


def endless(store: Counters, started: int) -> None:
    """Until killed. Every request counts 1 of each window in the end, so the two stay equal."""
    for number in range(10**9):
        taken = take(store, TOGETHER)
        if number == 20:
            os.write(started, b".")
        store.settle(taken.receipt, (1, 1, 1))


def killing(store: Counters, rounds: int) -> None:
    dice = random.Random(5)
    for _ in range(rounds):
        heard, started = os.pipe()
        children = []
        for _ in range(2):
            child = os.fork()
            if not child:
                endless(store, started)
            children.append(child)
        os.close(started)
        os.read(heard, 1)
        time.sleep(dice.random() * 0.01)
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)
        begun = time.monotonic()
        store.settle(take(store, TOGETHER).receipt, (1, 1, 1))
        seconds = time.monotonic() - begun
        os.kill(children[1], signal.SIGKILL)
        os.waitpid(children[1], 0)
        os.close(heard)
        say([seconds, *(ENDLESS - remaining for remaining in left(store, TOGETHER))])


def watching(store: Counters) -> None:
    while True:
        begun = time.monotonic()
        try:
            taken = take(store, TOGETHER)
            store.settle(taken.receipt, (1, 2, 1))
            said: object = taken.denied is None
        except CountersAway as error:
            said = str(error)
        say([said, time.monotonic() - begun])
        time.sleep(0.005)


MODES = {"passing": passing, "holding": holding, "killing": killing, "watching": watching}


def main(place: str, mode: str, *numbers: str) -> None:
    if "://" in place:
        patient = {} if mode == "watching" else {"limit": PATIENT}
        store: Counters = Redis(place, lease=1.0, **patient)
    else:
        store = Ahead(Memory(Path(place)))
    print("ready", flush=True)
    sys.stdin.readline()
    MODES[mode](store, *map(int, numbers))
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

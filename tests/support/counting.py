"""Workers that count, as processes of their own: `python -m tests.support.counting PLACE MODE ...`.

PLACE is a path for MemoryCounters or a URL for Redis. A worker prints `ready`, and begins with the
next line of its input; each further line is one JSON value.

    passing TAKES AMOUNT MONTH   takes TAKES times, prints how many passed all three limits
    holding COUNT AMOUNT   takes COUNT slots, prints how many passed, and holds them
    killing ROUNDS         forks workers that take and settle, kills each at a random moment, and
                           prints after each: [seconds for a take, four counts]
    watching               takes in a loop, prints whether each take passed, or the error's text
"""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import json  # noqa: E402
import os  # noqa: E402
import random  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

from engine.stores.counters.memory import MemoryCounters  # noqa: E402
from engine.stores.counters.redis.counters import RedisCounters  # noqa: E402
from engine.values.calendar import Calendar  # noqa: E402
from engine.values.counters import Counters, CountersAway  # noqa: E402
from tests.support.counters import Limit, remaining_of, take  # noqa: E402

ENDLESS = 10**12
TOGETHER = [
    Limit("rate:killed", ENDLESS, 3600.0),
    Limit("budget:killed", ENDLESS, 86400.0),
    Limit("month:killed", ENDLESS, Calendar("month")),
    Limit("slots:killed", ENDLESS, 0),
]


def say(value: object) -> None:
    print(json.dumps(value), flush=True)


def passing(store: Counters, takes: int, amount: int, month: int) -> None:
    limits = [
        Limit("rate:all", amount, 3600.0),
        Limit("budget:all", amount * 9, 7200.0, 3),
        Limit("month:all", month * 2, Calendar("month"), 2),
    ]
    say(sum(take(store, limits).denied is None for _ in range(takes)))


def holding(store: Counters, count: int, amount: int) -> None:
    limits = [Limit("slots:held", amount, 0)]
    say(sum(take(store, limits).denied is None for _ in range(count)))
    while True:
        time.sleep(1)


def endless(make: Callable[[], Counters], line: socket.socket) -> None:
    """Take and settle until killed. Each request finally counts 1 in each window."""
    store = make()
    for number in range(10**9):
        result = take(store, TOGETHER)
        if number == 20:
            line.sendall(b".")
        store.settle(result.receipt, (1, 1, 1, 1))


def look(make: Callable[[], Counters], line: socket.socket) -> None:
    """Take, take again once a worker is killed, and print the counts once both are dead."""
    store = make()
    store.settle(take(store, TOGETHER).receipt, (1, 1, 1, 1))
    line.sendall(b".")
    hear(line)
    store.settle(take(store, TOGETHER).receipt, (1, 1, 1, 1))
    line.sendall(b".")
    hear(line)
    say([ENDLESS - remaining for remaining in remaining_of(store, TOGETHER)])
    store.close()


def forked(work: Callable[[], None]) -> int:
    """The process id of a child that does `work` and exits."""
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


def hear(line: socket.socket) -> None:
    if not line.recv(1):
        raise SystemExit("the other process has ended")


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    if os.WTERMSIG(os.waitpid(child, 0)[1]) != signal.SIGKILL:
        raise SystemExit("a worker had ended before it was killed")


def killing(make: Callable[[], Counters], rounds: int) -> None:
    """Fork two workers and a looker per round, and kill the workers. Each opens its own store."""
    dice = random.Random(5)
    for _ in range(rounds):
        working, far_end = socket.socketpair()
        first, second = (forked(partial(endless, make, far_end)) for _ in range(2))
        far_end.close()
        hear(working)
        looking, far_end = socket.socketpair()
        looker = forked(partial(look, make, far_end))
        far_end.close()
        hear(looking)
        time.sleep(dice.random() * 0.01)
        kill(first)
        looking.sendall(b".")
        hear(looking)
        kill(second)
        looking.sendall(b".")
        if os.waitpid(looker, 0)[1]:
            raise SystemExit("a look has failed")
        working.close()
        looking.close()


def watch(store: Counters) -> None:
    while True:
        try:
            result = take(store, TOGETHER)
            store.settle(result.receipt, (1, 2, 1, 1))
            outcome: object = result.denied is None
        except CountersAway as error:
            outcome = str(error)
        say(outcome)
        time.sleep(0.005)


MODES = {"passing": passing, "holding": holding, "watching": watch}


def main(place: str, mode: str, *numbers: str) -> None:
    if "://" in place:
        make: Callable[[], Counters] = partial(RedisCounters, place, lease=1.0)
    else:
        make = partial(MemoryCounters, Path(place))
    print("ready", flush=True)
    sys.stdin.readline()
    if mode == "killing":
        killing(make, *map(int, numbers))
        return
    store = make()
    MODES[mode](store, *map(int, numbers))
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

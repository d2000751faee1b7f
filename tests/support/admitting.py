"""A worker with a gate in a process of its own, for tests of queues that several workers share.

    python -m tests.support.admitting FOLDER crowd BOUND SIZE CALLERS
    python -m tests.support.admitting FOLDER hold PLACES TICKETS
    python -m tests.support.admitting FOLDER wait BOUND

`crowd` lets CALLERS wait for a slot at once; each holds it for 5 ms. It prints the start and the
end of each hold. `hold` takes slots and tickets, prints how many, and sleeps. `wait` prints how
its wait ended, and sleeps.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import gevent
import orjson

from engine.stores.admission.shared_queue import QueueFolder, SharedQueue
from engine.upstream.admission.gate import Gate, GateConfig, Wait
from engine.values.admission import NORMAL

_LONG = 60.0


def say(value: object) -> None:
    print(orjson.dumps(value).decode(), flush=True)


def crowd(queue: SharedQueue, bound: str, size: str, callers: str) -> None:
    gate = Gate("vendor", "", GateConfig(int(bound), int(size), _LONG), queue)
    spans: list[tuple[float, float]] = []

    def call() -> None:
        if not gate.try_enter(NORMAL):
            assert gate.wait(NORMAL, _LONG) is Wait.ADMITTED
        start = time.monotonic()
        gevent.sleep(0.005)
        spans.append((start, time.monotonic()))
        gate.release(0.005)

    gevent.joinall([gevent.spawn(call) for _ in range(int(callers))], raise_error=True)
    say(spans)


def hold(queue: SharedQueue, slots: str, tickets: str) -> None:
    entered = [queue.enter(NORMAL, int(slots)) for _ in range(int(slots))]
    waiting = [
        queue.join(NORMAL, int(tickets), time.monotonic() + _LONG) for _ in range(int(tickets))
    ]
    say([sum(entered), sum(ticket is not None for ticket in waiting)])
    time.sleep(_LONG)


def wait(queue: SharedQueue, bound: str) -> None:
    gate = Gate("vendor", "", GateConfig(int(bound), 1, _LONG), queue)
    say(gate.wait(NORMAL, _LONG))
    time.sleep(_LONG)


if __name__ == "__main__":
    folder, task, *arguments = sys.argv[1:]
    shared = QueueFolder(Path(folder)).queue("vendor")
    print("ready", flush=True)
    sys.stdin.readline()
    {"crowd": crowd, "hold": hold, "wait": wait}[task](shared, *arguments)

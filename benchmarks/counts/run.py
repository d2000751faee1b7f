"""The workload, in a process of its own: `python -m benchmarks.counts.run instructions LIBRARY`,
under callgrind, or `python -m benchmarks.counts.run bytecodes`.

Prints a JSON object: what a request takes that is answered as JSON, an event of a stream of 500
(its request included), and such a request at a gateway that seals ids of objects, of which it names
none; each with those who ask and answer.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import gevent
import gevent.monkey

gevent.monkey.patch_all()

from benchmarks.counts import clocks  # noqa: E402

clocks.stop()

from benchmarks.counts.house import BATCH, CONFIG, TOKEN, WITH_OBJECTS, House  # noqa: E402
from benchmarks.counts.meters import Bytecodes, Instructions, Meter  # noqa: E402
from benchmarks.counts.scripted import Caller, Upstream  # noqa: E402

_ROUNDS = 5
_REQUESTS = BATCH  # so that the telemetry of one batch is among what is counted
_EVENTS = 500
_SHORT_STREAM = 20
_WARM = 4 * BATCH - 2
"""Requests before those counted: with two streams and the counted ones whole batches, and more
than the 53 misses after which CPython 3.11 specialises an access to an attribute anew."""


def main(kind: str, library: str = "") -> None:
    meter: Meter
    if kind == "instructions":
        meter = Instructions(library)
    else:
        meter = Bytecodes()
    upstream = Upstream()
    with _house(upstream, CONFIG) as house:
        costs = _measure(meter, upstream, house)
    with _house(upstream, WITH_OBJECTS) as house:
        costs["request with objects"] = _requests(meter, house)
    print(json.dumps(costs), flush=True)
    os._exit(0)  # neither threads nor exit handlers: what was counted is counted


@contextmanager
def _house(upstream: Upstream, config: str) -> Iterator[House]:
    with tempfile.TemporaryDirectory() as name:
        house = House(Path(name), upstream.port, config)
        try:
            yield house
        finally:
            house.close()


def _measure(meter: Meter, upstream: Upstream, house: House) -> dict[str, int]:
    caller = Caller(house.connect(), TOKEN)
    for _ in range(2 * _SHORT_STREAM):
        caller.ask()
    _stream(caller, upstream, _SHORT_STREAM)
    house.ship()
    meter.begin()
    requests = events = 0.0
    for _ in range(_ROUNDS):
        _lookups_anew()
        for _ in range(_WARM):
            caller.ask()
        _stream(caller, upstream, 4 * _WARM)
        requests += _count(meter, lambda: _ask(caller))
        events += _count(meter, lambda: _stream(caller, upstream, _EVENTS))
    return {
        "request": round(requests / _ROUNDS / _REQUESTS + _shipping(meter, house)),
        "event": round(events / _ROUNDS / _EVENTS),
    }


def _requests(meter: Meter, house: House) -> int:
    """What a request takes at another gateway."""
    caller = Caller(house.connect(), TOKEN)
    caller.ask()
    house.ship()
    requests = 0.0
    for _ in range(_ROUNDS):
        _lookups_anew()
        for _ in range(_WARM + 2):  # whole batches
            caller.ask()
        requests += _count(meter, lambda: _ask(caller))
    return round(requests / _ROUNDS / _REQUESTS + _shipping(meter, house))


def _shipping(meter: Meter, house: House) -> float:
    """What the row of a request takes on its way to the database."""
    before = house.shipped()
    return _count(meter, house.ship) / (house.shipped() - before)


def _lookups_anew() -> None:
    """Let the interpreter give all classes new numbers: which of their attributes are in one
    another's way in its cache is chance, of the addresses of names, and is to be averaged."""
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(object))


def _count(meter: Meter, work: Callable[[], None]) -> float:
    gc.collect()
    meter.zero()
    work()
    for _ in range(5):  # what follows the last byte of an answer belongs to it
        gevent.sleep(0.001)
    return meter.read()


def _ask(caller: Caller) -> None:
    for _ in range(_REQUESTS):
        caller.ask()


def _stream(caller: Caller, upstream: Upstream, events: int) -> None:
    upstream.events = events
    arrived = caller.stream(upstream.turn.release)
    if arrived != events:
        raise RuntimeError(f"{events} events arrived in {arrived} pieces")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How long small requests wait behind large ones.

    python -m benchmarks.stall [ROUNDS [NAME ...]]

While a large request of a kind is served by a gateway (`gateways.py`), small ones are sent one
after the other, over one connection and from a process of its own. Printed are the longest turn of
the worker's event loop in the first round, in which a worker learns what a body of an operation
costs, and in all others; that of the heavy worker's, in milliseconds of processor time; and the
longest time of a small request in each round. On a busy machine only the turns say something.
NAME is a part of a kind's name. Then ten requests of 10 MB are sent each second,
and the 99th percentile of the small ones is printed. Linux only.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from benchmarks.stall.callers import CROWD, PER_SECOND, probe, send, send_at_once, send_many
from benchmarks.stall.gateways import Gateway, running_gateway, running_upstream
from benchmarks.stall.kinds import KINDS

_REST = 0.5
"""Seconds of small requests before and after a large one."""
_RELOAD = "a reload of 1,000 routes"
_AT_ONCE = f"{CROWD:,} chats at once"


class Waits(NamedTuple):
    """Milliseconds: the times of small requests at rest and beside large ones, and the longest
    turns of the worker and of the heavy worker beside them."""

    rest: list[float]
    beside: list[float]
    turns: tuple[float, float]


def main(rounds: int, names: list[str]) -> None:
    """Print the waits behind each kind of request, and under mixed load."""
    kinds = [kind for kind in KINDS if any(name in kind.name for name in names or [""])]
    with ExitStack() as stack:
        upstream = stack.enter_context(running_upstream())
        gateways = {
            name: stack.enter_context(running_gateway(name, upstream))
            for name in dict.fromkeys(["plain", *(kind.gateway for kind in kinds)])
        }
        titles = f"{'first':>7} {'turn':>7} {'heavy':>7} {'at rest':>8} {'wait':>8}"
        print(f"{'longest, milliseconds':34} {titles}")
        for kind in kinds:
            gateway, body = gateways[kind.gateway], kind.body()
            work = partial(send, kind, body, gateway.port)
            _print(kind.name, [_measure(gateway, work) for _ in range(rounds)])
        if any(name in _RELOAD for name in names or [""]):
            many = stack.enter_context(running_gateway("many", upstream))
            _print(_RELOAD, [_measure(many, many.reload) for _ in range(rounds)])
        if any(name in _AT_ONCE for name in names or [""]):
            plain = gateways["plain"]
            crowd = partial(send_at_once, plain.port)
            _print(_AT_ONCE, [_measure(plain, crowd) for _ in range(rounds)])
        if not names:
            plain = gateways["plain"]
            waits = _measure(plain, partial(send_many, plain.port))
            rest, beside = (statistics.quantiles(times, n=100)[98] for times in waits[:2])
            load = f"{PER_SECOND} x 10 MB a second"
            turn = f"longest turn {waits.turns[0]:.1f} ms"
            print(f"p99 beside {load}: {beside:.1f} ms; at rest: {rest:.1f} ms; {turn}")


def _print(name: str, rounds: list[Waits]) -> None:
    first, turn = rounds[0].turns[0], max(each.turns[0] for each in rounds[1:] or rounds)
    heavy = max(each.turns[1] for each in rounds)
    rest = max(max(each.rest) for each in rounds)
    behind = " ".join(f"{max(each.beside):8.1f}" for each in rounds)
    print(f"{name:34} {first:7.1f} {turn:7.1f} {heavy:7.1f} {rest:8.1f} {behind}", flush=True)


def _measure(gateway: Gateway, work: Callable[[], None]) -> Waits:
    """The times of small requests before and during `work`."""
    prober = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.stall", "probe", str(gateway.port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert prober.stdout is not None
    prober.stdout.readline()  # it has begun
    time.sleep(_REST)
    gateway.turns.take()
    begin = time.monotonic()
    work()
    end = time.monotonic()
    time.sleep(_REST)
    turns = gateway.turns.take()
    output, _ = prober.communicate("end\n")
    rest, beside = [], []
    for line in output.splitlines():
        start, seconds = map(float, line.split())
        if start + seconds < begin:
            rest.append(seconds * 1000)
        elif start < end + _REST / 2:
            beside.append(seconds * 1000)
    return Waits(rest, beside, turns)


if __name__ == "__main__":
    if sys.argv[1:2] == ["probe"]:
        probe(int(sys.argv[2]))
    elif sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:])

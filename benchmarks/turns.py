"""Gateways that are measured in turns, so that other load of the machine affects all of them.

Turns are short, as the speed of a machine changes within seconds. The cost that a gateway adds is
the median, over its turns, of its cost minus the cost of the first gateway in the same round; the
quartiles show the spread.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.upstream_leg import cpu_per_unit, run_in_process

CONNECTIONS = 16


def take_turns(gateways: Mapping[str, tuple[int, int]], turns: int, requests: int) -> None:
    """Ask the gateways (port and worker by name), and print the CPU that each adds to the first."""
    compare(
        {
            name: (pid, partial(run_in_process, "ask", port, CONNECTIONS, requests))
            for name, (port, pid) in gateways.items()
        },
        turns,
        requests,
    )


def compare(
    works: Mapping[str, tuple[int, Callable[[], object]]],
    turns: int,
    requests: int,
    loops: Mapping[str, Callable[[], float]] | None = None,
) -> None:
    """Do the works (a worker, and what sends it `requests`), and print the CPU that each adds to
    the first. `loops` return microseconds that are printed as they are."""
    loops = loops or {}
    costs: dict[str, list[float]] = {name: [] for name in (*works, *loops)}
    for _ in range(turns):
        for name, (pid, work) in works.items():
            costs[name].append(cpu_per_unit(pid, work, requests))
        for name, loop in loops.items():
            costs[name].append(loop())
    bare, *others = works
    print(f"{bare:<20} {statistics.median(costs[bare]):4.0f} us of CPU per request")
    for name in others:
        differences = [more - less for more, less in zip(costs[name], costs[bare], strict=True)]
        least, middle, most = statistics.quantiles(differences, n=4)
        print(f"{name:<20} adds {middle:4.0f} us ({least:.0f} to {most:.0f})")
    for name in loops:
        least, middle, most = statistics.quantiles(costs[name], n=4)
        print(f"{name:<20} {middle:4.0f} us alone ({least:.0f} to {most:.0f})")

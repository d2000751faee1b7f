"""Gateways that take turns, so that whatever else the machine does falls on all of them alike.

Many short turns tell more than few long ones: a machine's pace changes within seconds. What one
adds is the median of what its turns took beyond those of the first, right beside them; the
quartiles tell how sure that is.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from functools import partial

from benchmarks.upstream_leg import elsewhere, spent

CONNECTIONS = 16


def take_turns(gateways: Mapping[str, tuple[int, int]], turns: int, requests: int) -> None:
    """Ask the gateways (port and worker by name), and print what each adds to the first of them."""
    took: dict[str, list[float]] = {name: [] for name in gateways}
    for _ in range(turns):
        for name, (port, pid) in gateways.items():
            work = partial(elsewhere, "ask", port, CONNECTIONS, requests)
            took[name].append(spent(pid, work, requests))
    bare, *others = took
    print(f"{bare:<20} {statistics.median(took[bare]):4.0f} us of CPU per request")
    for name in others:
        added = [more - less for more, less in zip(took[name], took[bare], strict=True)]
        least, middle, most = statistics.quantiles(added, n=4)
        print(f"{name:<20} adds {middle:4.0f} us ({least:.0f} to {most:.0f})")

"""A DNS name that changes from four addresses to four others, under load."""

from __future__ import annotations

import signal
import time
from typing import Any

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report

_NAME = "replicas.fleet"


def measure(bed: Bed, bound: float, *, kill: bool = False, **options: Any) -> Report:
    """Change the name of an upstream with `options`; `bound` is the seconds in which it must be
    followed. With `kill` the old servers are killed then."""
    report = Report()
    names = bed.start_names(system=True)
    everyone = bed.start_replicas()
    old, new = everyone[:4], everyone[4:]
    names.set(_NAME, [replica.node.address for replica in old])
    upstream = {"url": f"http://{_NAME}:{old[0].port}/v1", **options}
    (gateway,) = bed.start_gateways(bed.config(upstreams={"replicas": upstream}), count=1)
    with Load(through(gateway), callers=8, pause=0.02) as load:
        load.wait_for(200)
        names.set(_NAME, [replica.node.address for replica in new])
        change_time = time.monotonic()
        time.sleep(bound + 1)
        if kill:
            for replica in old:
                replica.process.signal(signal.SIGKILL)
        load.wait_for(len(load.results) + 200)
    report.requests(load.results)
    old_names = {replica.name for replica in old}
    late = [r for r in load.results if r.start > change_time and r.replica in old_names]
    seconds = max((result.start for result in late), default=change_time) - change_time
    text = f"{seconds:.1f} s until the last request at an old address, under {bound:.0f} s"
    report.law(seconds < bound, "old", text)
    for name, group in (("before", old), ("after", new)):
        counts = [sum(r.replica == replica.name for r in load.results) for replica in group]
        report.law(all(counts), name, f"{counts} requests at the four addresses, some at each")
    return report

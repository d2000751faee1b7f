"""The name of an upstream has four addresses, and then four others.

Law: no request is lost. 30 s after the change no request arrives at the old addresses, and all new
ones are used.
"""

from __future__ import annotations

import time

from benchmarks.fleet.bed import Bed, through
from benchmarks.fleet.load import Load
from benchmarks.fleet.report import Report
from benchmarks.fleet.servers.replicas import Replica

TITLE = "the DNS name of an upstream changes to other addresses"
_NAME = "replicas.fleet"
_BOUND = 30.0


def run(bed: Bed) -> Report:
    report = Report()
    names = bed.start_names(system=True)
    everyone = bed.start_replicas()
    old, new = everyone[:4], everyone[4:]
    names.set(_NAME, [replica.node.address for replica in old])
    upstreams = {"replicas": {"url": f"http://{_NAME}:{old[0].port}/v1"}}
    (gateway,) = bed.start_gateways(bed.config(upstreams=upstreams), count=1)
    with Load(through(gateway), callers=8, pause=0.02) as load:
        load.wait_for(200)
        names.set(_NAME, [replica.node.address for replica in new])
        changed = time.monotonic()
        time.sleep(_BOUND)
        load.wait_for(len(load.results) + 200)
    report.requests(load.results)
    late = [r for r in load.results if r.sent > changed and r.replica in _names(old)]
    seconds = max((result.sent for result in late), default=changed) - changed
    text = f"{seconds:.1f} s until the last request at an old address, under {_BOUND:.0f} s"
    report.law(seconds < _BOUND, "old", text)
    for name, group in (("before", old), ("after", new)):
        counts = [sum(r.replica == replica.name for r in load.results) for replica in group]
        report.law(all(counts), name, f"{counts} requests at the four addresses, some at each")
    return report


def _names(replicas: list[Replica]) -> set[str]:
    return {replica.name for replica in replicas}

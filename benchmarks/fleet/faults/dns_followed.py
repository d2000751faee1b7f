"""An upstream with `resolve: {every: 5s}`: its name has four addresses, then four others, and the
old servers are killed 6 s later.

Law: no request is lost. 5 s after the change no request arrives at the old addresses, and all new
ones are used.
"""

from __future__ import annotations

import signal
import time

from benchmarks.fleet.bed import Bed, through
from benchmarks.fleet.load import Load
from benchmarks.fleet.report import Report

TITLE = "the addresses of an upstream with `resolve` change, and the old servers are killed"
_NAME = "replicas.fleet"
_BOUND = 5.0


def run(bed: Bed) -> Report:
    report = Report()
    names = bed.start_names(system=True)
    everyone = bed.start_replicas()
    old, new = everyone[:4], everyone[4:]
    names.set(_NAME, [replica.node.address for replica in old])
    upstream = {"url": f"http://{_NAME}:{old[0].port}/v1", "resolve": {"every": "5s"}}
    (gateway,) = bed.start_gateways(bed.config(upstreams={"replicas": upstream}), count=1)
    with Load(through(gateway), callers=8, pause=0.02) as load:
        load.wait_for(200)
        names.set(_NAME, [replica.node.address for replica in new])
        changed = time.monotonic()
        time.sleep(_BOUND + 1)
        for replica in old:
            replica.process.signal(signal.SIGKILL)
        load.wait_for(len(load.results) + 200)
    report.requests(load.results)
    gone = {replica.name for replica in old}
    late = [r for r in load.results if r.sent > changed and r.replica in gone]
    seconds = max((result.sent for result in late), default=changed) - changed
    text = f"{seconds:.1f} s until the last request at an old address, under {_BOUND:.0f} s"
    report.law(seconds < _BOUND, "old", text)
    counts = [sum(r.replica == replica.name for r in load.results) for replica in new]
    report.law(all(counts), "after", f"{counts} requests at the four new addresses, some at each")
    return report

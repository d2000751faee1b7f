"""A master of a Redis Cluster is killed, and its replica takes over its keys.

Law: no request is lost. At most 2 L + R pass of a limit L, as with Sentinel.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report
from trials.fleet.waiting import until

TITLE = "kill -9 of a master of Redis Cluster; its replica takes over"
_LIMIT, _WINDOW, _TOKENS = 30, 10, 6


def run(bed: Bed) -> Report:
    report = Report()
    cluster = bed.start_cluster()
    until(cluster.replicas_ready, "every master has its replica")
    bed.start_replicas(2)
    names = [f"limited-{number}" for number in range(_TOKENS)]
    tokens = {name: {"rate": f"{_LIMIT}/{_WINDOW}s"} for name in names}
    nodes = ",".join(f"{s.node.address}:{s.port}" for s in cluster.servers)
    counters = f"redis+cluster://{nodes}"
    bed.start_gateways(bed.config({"counters": counters}, tokens=tokens))
    front = bed.start_front()
    loads = [Load(through(front, name), callers=2, pause=0.05) for name in names]
    for load in loads:
        load.start()
    time.sleep(_WINDOW / 4)
    victim = cluster.master()
    victim.process.kill()
    seconds = until(lambda: cluster.complete(without=victim), "the replica takes over")
    time.sleep(_WINDOW)
    for load in loads:
        load.stop()
    report.requests([result for load in loads for result in load.results])
    report.figure("failover", f"{seconds:.1f} s until all keys were served again")
    for name, load in zip(names, loads, strict=True):
        report.limit(load.results, _WINDOW, 3 * _LIMIT, f"2 L + R, {name}")
    return report

"""The Redis that Sentinel watches is killed, and Sentinel promotes a replica.

Law: no request is lost. At most 2 L + R pass of a limit L: until the promotion each instance counts
its share, and the replica may lack R, what the killed one had not sent to it (at most L).
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report
from trials.fleet.servers.redis import SERVICE
from trials.fleet.waiting import until

TITLE = "kill -9 of the Redis master; Sentinel promotes a replica"
_LIMIT, _WINDOW = 90, 10


def run(bed: Bed) -> Report:
    report = Report()
    sentinels = bed.start_sentinels()
    bed.start_replicas(2)
    tokens = {"limited": {"rate": f"{_LIMIT}/{_WINDOW}s"}}
    places = ",".join(f"{address}:{port}" for address, port in sentinels.addresses)
    counters = f"redis+sentinel://{places}/{SERVICE}/0"
    bed.start_gateways(bed.config({"counters": counters}, tokens=tokens))
    front = bed.start_front()
    with Load(through(front, "limited"), callers=8, pause=0.02) as load:
        time.sleep(_WINDOW / 4)
        sentinels.master.process.kill()
        seconds = until(lambda: sentinels.promoted() is not None, "a replica is promoted")
        time.sleep(_WINDOW)
    report.requests(load.results)
    report.figure("failover", f"{seconds:.1f} s until Sentinel promoted a replica")
    promoted = sentinels.promoted()
    script_count = promoted.commands() if promoted else 0
    report.law(script_count > 0, "promoted", f"it ran {script_count:,} scripts of the instances")
    report.limit(load.results, _WINDOW, 3 * _LIMIT, "2 L + R, the replica lacked R of L")
    return report

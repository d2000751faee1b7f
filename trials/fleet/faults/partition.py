"""The packets between one of three instances and Redis are dropped for 10 s.

Law: no request is lost. At most L + L / M pass of a limit L: what Redis counts, and what the
instance alone counts against its share.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.network import partition
from trials.fleet.report import Report

TITLE = "a partition between one instance and Redis, healed after 10 s"
_LIMIT, _WINDOW, _SECONDS = 90, 10, 10


def run(bed: Bed) -> Report:
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    bed.start_replicas(2)
    stores = {"records": records([database]), "counters": redis.url}
    tokens = {"limited": {"rate": f"{_LIMIT}/{_WINDOW}s"}}
    alone = bed.start_gateways(bed.config(stores, tokens=tokens))[1]
    front = bed.start_front()
    with Load(through(front, "limited"), callers=8, pause=0.02) as load:
        time.sleep(_WINDOW / 4)
        with partition(bed.network, alone.node, redis.node):
            time.sleep(_SECONDS)
        time.sleep(_WINDOW / 2)
    report.requests(load.results)
    report.limit(load.results, _WINDOW, _LIMIT + _LIMIT // 3, "L + L / M")
    slowest = max(result.seconds for result in load.results)
    report.figure("slowest", f"{slowest * 1000:.0f} ms, its wait for Redis included (a shared CPU)")
    check_ledger(report, database, load.results)
    return report

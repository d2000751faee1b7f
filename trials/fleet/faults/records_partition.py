"""The packets between one of three instances and PostgreSQL are dropped for 10 s.

Law: no request is lost. Every finished request is in the ledger once after healing.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.network import partition
from trials.fleet.report import Report

TITLE = "a partition between one instance and PostgreSQL, healed after 10 s"
_SECONDS = 10


def run(bed: Bed) -> Report:
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    bed.start_replicas(2)
    stores = {"records": records([database]), "counters": redis.url}
    alone = bed.start_gateways(bed.config(stores))[1]
    front = bed.start_front()
    with Load(through(front), callers=8, pause=0.05) as load:
        load.wait_for(100)
        with partition(bed.network, alone.node, database.node):
            time.sleep(_SECONDS)
        load.wait_for(len(load.results) + 100)
    report.requests(load.results)
    slowest = max(result.seconds for result in load.results)
    report.figure("slowest", f"{slowest * 1000:.0f} ms (a shared CPU)")
    check_ledger(report, database, load.results)
    return report

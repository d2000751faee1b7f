"""One of three instances is killed and started again later.

Law: only requests that were in flight on it are lost. Every finished request is in the ledger once,
those of the killed instance when it has started again.
"""

from __future__ import annotations

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "kill -9 of one of three instances, which comes back later"


def run(bed: Bed) -> Report:
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    bed.start_replicas()
    stores = {"records": records([database]), "counters": redis.url}
    victim = bed.start_gateways(bed.config(stores))[1]
    front = bed.start_front(reuse=False)
    with Load(through(front), callers=16, pause=0.02) as load:
        load.wait_for(300)
        kill = victim.kill()
        load.wait_for(900)
        victim.start()
        load.wait_for(1200)
    report.requests(load.results, kill)
    check_ledger(report, database, load.results)
    return report

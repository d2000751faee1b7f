"""The primary of PostgreSQL is killed, and its standby becomes the primary.

Law: no request is lost. Every finished request is in the ledger once: the standby has every row
whose commit was answered, and the journals of the instances have the others.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "kill -9 of the PostgreSQL primary; the standby takes over after 3 s"


def run(bed: Bed) -> Report:
    report = Report()
    pair, redis = bed.start_pair(), bed.start_redis()
    bed.start_replicas(2)
    stores = {"records": records([pair.primary, pair.standby]), "counters": redis.url}
    bed.start_gateways(bed.config(stores))
    front = bed.start_front()
    with Load(through(front), callers=8, pause=0.05) as load:
        load.wait_for(200)
        pair.primary.process.kill()
        time.sleep(3)
        load.wait_for(len(load.results) + 100)
        pair.promote()
        load.wait_for(len(load.results) + 200)
    report.requests(load.results)
    check_ledger(report, pair.standby, load.results)
    return report

"""One of three instances is killed while PostgreSQL is away, and never comes back.

Law: only requests that were in flight on it are lost. When its journal has been shipped by command,
every finished request is in the ledger once.
"""

from __future__ import annotations

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "kill -9 of PostgreSQL, then of an instance whose journal is shipped by command"


def run(bed: Bed) -> Report:
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    bed.start_replicas(2)
    stores = {"records": records([database]), "counters": redis.url}
    victim, heir, _ = bed.start_gateways(bed.config(stores))
    front = bed.start_front(reuse=False)
    with Load(through(front), callers=8, pause=0.02) as load:
        load.wait_for(200)
        database.process.kill()
        load.wait_for(400)
        kill = victim.kill()
        load.wait_for(600)
        database.start()
    report.requests(load.results, kill)
    report.figure("shipped", heir.command("ledger", "ship", str(victim.journal)))
    check_ledger(report, database, load.results)
    return report

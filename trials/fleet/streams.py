"""Three instances behind a load balancer, with 200 streams and many short requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.report import Report
from trials.fleet.servers.gateway import Gateway

COUNT = 200

Change = Callable[[Report, Sequence[Gateway], Mapping[str, Any], Load], None]


def measure(bed: Bed, drain: Mapping[str, str], change: Change) -> Report:
    """Call `change` with the report, the instances, their config, and the load of streams; `drain`
    is `server.drain`. No request may be lost, and each is in the ledger once."""
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    for replica in bed.start_replicas():
        replica.behave(stream_word=0.5)
    stores = {"records": records([database]), "counters": redis.url}
    config = bed.config(stores, server={"drain": drain})
    gateways = bed.start_gateways(config)
    front = bed.start_front()
    quick = Load(through(front), callers=4, pause=0.01)
    with Load(through(front, stream=True, words=8), callers=COUNT, pause=0.5) as load, quick:
        load.wait_for(COUNT)
        change(report, gateways, config, load)
    report.requests([*load.results, *quick.results])
    longest = max(result.seconds for result in load.results)
    report.figure("longest", f"{longest:.1f} s for a stream of 4 s (a shared CPU)")
    check_ledger(report, database, [*load.results, *quick.results])
    return report

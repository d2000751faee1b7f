"""All three instances are restarted, one after another, under 200 streams and many short requests,
on connections that the load balancer keeps.

Law: none of them is lost, cut or wrong. Each is in the ledger once.
"""

from __future__ import annotations

import time

from benchmarks.fleet.bed import Bed, check_ledger, records, through
from benchmarks.fleet.load import Load
from benchmarks.fleet.report import Report

TITLE = "rolling restart of all instances under 200 streams"
_STREAMS = 200


def run(bed: Bed) -> Report:
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    for replica in bed.start_replicas():
        replica.behave(stream_word=0.5)
    stores = {"records": records([database]), "counters": redis.url}
    server = {"drain": {"delay": "2s", "grace": "60s"}}
    gateways = bed.start_gateways(bed.config(stores, server=server))
    front = bed.start_front()
    quick = Load(through(front), callers=4, pause=0.01)
    with Load(through(front, stream=True, words=8), callers=_STREAMS, pause=0.5) as load, quick:
        load.wait_for(_STREAMS)
        for gateway in gateways:
            start = time.monotonic()
            status = gateway.stop()
            seconds = time.monotonic() - start
            gateway.start()
            text = f"ended with status {status} after {seconds:.1f} s"
            report.law(status == 0, gateway.node.name, text)
        load.wait_for(len(load.results) + _STREAMS)
    report.requests([*load.results, *quick.results])
    longest = max(result.seconds for result in load.results)
    report.figure("longest", f"{longest:.1f} s for a stream of 4 s (a shared CPU)")
    check_ledger(report, database, [*load.results, *quick.results])
    return report

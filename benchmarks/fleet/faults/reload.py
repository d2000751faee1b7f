"""All three instances load a changed config at once, under 200 streams and many short requests.

Law: none of them is lost, cut or wrong. Each is in the ledger once.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from benchmarks.fleet.bed import Bed, check_ledger, records, through
from benchmarks.fleet.load import Load
from benchmarks.fleet.report import Report

TITLE = "reload of all instances at once under 200 streams"
_STREAMS = 200


def run(bed: Bed) -> Report:
    report = Report()
    redis, database = bed.start_redis(), bed.start_postgres()
    for replica in bed.start_replicas():
        replica.behave(stream_word=0.5)
    stores = {"records": records([database]), "counters": redis.url}
    config = bed.config(stores, server={"drain": {"grace": "60s"}})
    gateways = bed.start_gateways(config)
    front = bed.start_front()
    quick = Load(through(front), callers=4, pause=0.01)
    with Load(through(front, stream=True, words=8), callers=_STREAMS, pause=0.5) as load, quick:
        load.wait_for(_STREAMS)
        for gateway in gateways:
            gateway.write({**config, "prices": {"*": {"input": 1}}})
        with ThreadPoolExecutor() as pool:
            outputs = list(pool.map(lambda gateway: gateway.command("reload"), gateways))
        load.wait_for(len(load.results) + 2 * _STREAMS)
    for gateway, output in zip(gateways, outputs, strict=True):
        report.figure(gateway.node.name, output.splitlines()[0])
    report.requests([*load.results, *quick.results])
    longest = max(result.seconds for result in load.results)
    report.figure("longest", f"{longest:.1f} s for a stream of 4 s (a shared CPU)")
    check_ledger(report, database, [*load.results, *quick.results])
    return report

"""Stores fail over and all instances are restarted in turn while one replica is slow and another
fails and works in turn, under streams and short requests.

Law: no request is lost. Each is in the ledger once.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, check_ledger, records, through
from trials.fleet.load import Load
from trials.fleet.report import Report
from trials.fleet.servers.redis import SERVICE
from trials.fleet.waiting import until

TITLE = "failovers of Redis and PostgreSQL, bad replicas and a rolling restart at once"


def run(bed: Bed) -> Report:
    report = Report()
    sentinels, pair = bed.start_sentinels(), bed.start_pair()
    replicas = bed.start_replicas()
    for replica in replicas:
        replica.behave(stream_word=0.2)
    places = ",".join(f"{address}:{port}" for address, port in sentinels.addresses)
    stores = {
        "records": records([pair.primary, pair.standby]),
        "counters": f"redis+sentinel://{places}/{SERVICE}/0",
    }
    server = {"drain": {"delay": "2s", "grace": "60s"}}
    tokens = {"limited": {"rate": "1000000/1m", "concurrency": 1000}}
    model = {"choose": "least_busy"}
    gateways = bed.start_gateways(bed.config(stores, server=server, tokens=tokens, model=model))
    front = bed.start_front()
    streams = Load(through(front, "limited", stream=True, words=8), callers=40, pause=0.2)
    with streams, Load(through(front, "limited"), callers=8, pause=0.05) as load:
        load.wait_for(100)
        replicas[1].behave(slow=10)
        replicas[2].behave(flapping=1.0)
        sentinels.master.process.kill()
        pair.primary.process.kill()
        time.sleep(2)
        pair.promote()
        for gateway in gateways:
            gateway.stop()
            gateway.start()
        until(lambda: sentinels.promoted() is not None, "a replica is promoted")
        load.wait_for(len(load.results) + 100)
    results = [*load.results, *streams.results]
    report.requests(results)
    check_ledger(report, pair.standby, results)
    return report

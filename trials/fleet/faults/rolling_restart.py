"""All three instances are restarted, one after another, under 200 streams and many short requests,
on connections that the load balancer keeps.

Law: none of them is lost, cut or wrong. Each is in the ledger once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from trials.fleet import streams
from trials.fleet.bed import Bed
from trials.fleet.load import Load
from trials.fleet.report import Report
from trials.fleet.servers.gateway import Gateway

TITLE = "rolling restart of all instances under 200 streams"


def run(bed: Bed) -> Report:
    return streams.measure(bed, {"delay": "2s", "grace": "60s"}, _restart)


def _restart(
    report: Report, gateways: Sequence[Gateway], config: Mapping[str, Any], load: Load
) -> None:
    for gateway in gateways:
        start = time.monotonic()
        status = gateway.stop()
        seconds = time.monotonic() - start
        gateway.start()
        text = f"ended with status {status} after {seconds:.1f} s"
        report.law(status == 0, gateway.node.name, text)
    load.wait_for(len(load.results) + streams.COUNT)

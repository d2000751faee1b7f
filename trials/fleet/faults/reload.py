"""All three instances load a changed config at once, under 200 streams and many short requests.

Law: none of them is lost, cut or wrong. Each is in the ledger once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from trials.fleet import streams
from trials.fleet.bed import Bed
from trials.fleet.load import Load
from trials.fleet.report import Report
from trials.fleet.servers.gateway import Gateway

TITLE = "reload of all instances at once under 200 streams"


def run(bed: Bed) -> Report:
    return streams.measure(bed, {"grace": "60s"}, _reload)


def _reload(
    report: Report, gateways: Sequence[Gateway], config: Mapping[str, Any], load: Load
) -> None:
    for gateway in gateways:
        gateway.write({**config, "prices": {"*": {"input": 1}}})
    with ThreadPoolExecutor() as pool:
        outputs = list(pool.map(lambda gateway: gateway.command("reload"), gateways))
    load.wait_for(len(load.results) + 2 * streams.COUNT)
    for gateway, output in zip(gateways, outputs, strict=True):
        report.figure(gateway.node.name, output.splitlines()[0])

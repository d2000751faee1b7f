"""Four addresses of an upstream with `resolve` become four others, by DNS and then by a file, under
streams and short requests.

Law: no request is lost, also no stream at an address that went away. 5 s after a change no request
arrives at the old addresses, and all new ones are used.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load, Result
from trials.fleet.report import Report
from trials.fleet.servers.gateway import Gateway
from trials.fleet.servers.replicas import Replica

TITLE = "the addresses of an upstream with `resolve` change, by DNS and by a file"
_NAME, _BOUND = "replicas.fleet", 5.0


def run(bed: Bed) -> Report:
    report = Report()
    names, replicas = bed.start_names(), bed.start_replicas()
    file = bed.folder / "addresses.txt"

    def by_name(current: list[Replica]) -> None:
        names.set(_NAME, [replica.node.address for replica in current])

    def by_file(current: list[Replica]) -> None:
        file.write_text("".join(f"{r.node.address}:{r.port}\n" for r in current))

    ways: dict[str, tuple[dict[str, str], Callable[[list[Replica]], None]]] = {
        "DNS": ({"every": "1s", "server": names.server}, by_name),
        "file": ({"file": str(file)}, by_file),
    }
    upstream = {"url": f"http://{_NAME}:{replicas[0].port}/v1"}
    for number, (way, (resolve, change)) in enumerate(ways.items()):
        change(replicas[:4])
        config = bed.config(upstreams={"replicas": {**upstream, "resolve": resolve}})
        if number == 0:
            bed.start_gateways(config, count=1)
        else:
            bed.gateways[0].write(config)
            bed.gateways[0].command("reload")
        _judge(report, way, *_loaded(bed.gateways[0], replicas, change), replicas)
    return report


def _loaded(
    gateway: Gateway, replicas: list[Replica], change: Callable[[list[Replica]], None]
) -> tuple[list[Result], float]:
    """The results of a load during which the addresses change, and when they did."""
    streams = Load(through(gateway, stream=True, words=40), callers=20)
    with streams, Load(through(gateway), callers=4, pause=0.02) as quick:
        quick.wait_for(200)
        change(replicas[4:])
        change_time = time.monotonic()
        time.sleep(_BOUND)
        quick.wait_for(len(quick.results) + 200)
    return [*quick.results, *streams.results], change_time


def _judge(
    report: Report, way: str, results: list[Result], change_time: float, replicas: list[Replica]
) -> None:
    report.requests(results)
    old = {replica.name for replica in replicas[:4]}
    late = [r.start for r in results if r.start > change_time and r.replica in old]
    seconds = max(late, default=change_time) - change_time
    text = f"{seconds:.1f} s until the last request at an old address, under {_BOUND:.0f} s"
    report.law(seconds < _BOUND, way, text)
    counts = [sum(r.replica == replica.name for r in results) for replica in replicas]
    report.law(all(counts), way, f"{counts} requests at the four old and the four new addresses")

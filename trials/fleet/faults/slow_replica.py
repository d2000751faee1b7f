"""One of eight replicas becomes 50 times slower.

Law, with `choose: least_busy` and with `choose: fastest`, through one instance and through three
that know nothing of each other: the 99th percentile stays under 1.5 times that without the slow
one, which gets under 2 % of the requests. No request is lost.
"""

from __future__ import annotations

from typing import Any

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load, Result, Target, percentile
from trials.fleet.report import Report
from trials.fleet.servers.replicas import Replica

TITLE = "one of eight replicas is 50 times slower"
_SLOW, _REQUESTS = 50, 3000
_STRATEGIES = ("least_busy", "fastest")


def run(bed: Bed) -> Report:
    report = Report()
    slow = bed.start_replicas()[3]
    config = bed.config()
    gateways = bed.start_gateways(config)
    ways = {"one instance": through(gateways[0]), "three": through(bed.start_front())}
    share, p99, _ = _measure(ways["one instance"], slow, requests=400)
    text = f"{share:.1%} of 400 requests, p99 {p99 * 1000:,.0f} ms, for comparison"
    report.figure("weighted", text)
    results: list[Result] = []
    for strategy in _STRATEGIES:
        _choose(bed, config, strategy)
        for way, target in ways.items():
            slow.behave(slow=1)
            even = _load(target, _REQUESTS)
            share, after, uneven = _measure(target, slow, _REQUESTS)
            results += even + uneven
            before, name = percentile(even, 0.99), f"{strategy}, {way}"
            text = (
                f"p99 {before * 1000:.0f} ms without the slow one, {after * 1000:.0f} ms with it: "
            )
            text += f"{after / before:.2f} times (a shared CPU), under 1.5"
            report.law(after < 1.5 * before, name, text)
            text = f"{share:.2%} of {_REQUESTS:,} requests went to the slow one, under 2 %"
            report.law(share < 0.02, name, text)
    report.requests(results)
    return report


def _choose(bed: Bed, config: dict[str, Any], strategy: str) -> None:
    models = {"chat": {**config["models"]["chat"], "choose": strategy}}
    for gateway in bed.gateways:
        gateway.write({**config, "models": models})
        gateway.command("reload")


def _measure(target: Target, slow: Replica, requests: int) -> tuple[float, float, list[Result]]:
    """The slow one's share of the requests, the 99th percentile in seconds, the results."""
    slow.behave(slow=_SLOW)
    results = _load(target, requests)
    share = sum(result.replica == slow.name for result in results) / len(results)
    return share, percentile(results, 0.99), results


def _load(target: Target, requests: int) -> list[Result]:
    with Load(target, callers=16, most=requests) as load:
        load.join()
    return load.results

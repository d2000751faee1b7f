"""One of eight replicas becomes 50 times slower.

Law, with `choose: least_busy` and with `choose: fastest`: the 99th percentile stays under 1.5 times
that without the slow one, which gets under 2 % of the requests. No request is lost.
"""

from __future__ import annotations

from benchmarks.fleet.bed import Bed, through
from benchmarks.fleet.load import Load, Result, percentile
from benchmarks.fleet.report import Report

TITLE = "one of eight replicas is 50 times slower"
_SLOW, _REQUESTS, _STRATEGIES = 50, 3000, ("least_busy", "fastest")


def run(bed: Bed) -> Report:
    report = Report()
    slow = bed.start_replicas()[3]
    config = bed.config()
    (gateway,) = bed.start_gateways(config, count=1)
    results: list[Result] = []
    for strategy in _STRATEGIES:
        models = {"chat": {**config["models"]["chat"], "choose": strategy}}
        gateway.write({**config, "models": models})
        gateway.command("reload")
        slow.behave(slow=1)
        even = _load(bed)
        slow.behave(slow=_SLOW)
        uneven = _load(bed)
        results += even + uneven
        before, after = percentile(even, 0.99), percentile(uneven, 0.99)
        text = f"{before * 1000:.0f} ms without, {after * 1000:.0f} ms with it, "
        text += f"{after / before:.2f} times (a shared CPU), under 1.5 times"
        report.law(after < 1.5 * before, f"p99 {strategy}", text)
        share = sum(result.replica == slow.name for result in uneven) / len(uneven)
        text = f"{share:.2%} of {len(uneven):,} requests went to the slow one, under 2 %"
        report.law(share < 0.02, f"share {strategy}", text)
    report.requests(results)
    return report


def _load(bed: Bed) -> list[Result]:
    with Load(through(bed.gateways[0]), callers=16, most=_REQUESTS) as load:
        load.join()
    return load.results

"""Far more requests than two replicas with `max_in_flight` take, of low and of high priority.

Law: no replica has more than its `max_in_flight` requests at one time. Every request of high
priority is answered; of the low ones some are refused with 429, and none is lost.
"""

from __future__ import annotations

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "more requests than the replicas take, of two priorities"
_MAX_IN_FLIGHT, _HIGH, _LOW, _REQUESTS = 4, 6, 60, 1500


def run(bed: Bed) -> Report:
    report = Report()
    replicas = bed.start_replicas(2)
    upstream = {"max_in_flight": _MAX_IN_FLIGHT, "queue": {"size": 10, "wait": "1s"}}
    tokens = {"important": {"priority": "high"}, "batch": {"priority": "low"}}
    config = bed.config(upstream=upstream, tokens=tokens)
    (gateway,) = bed.start_gateways(config, count=1)
    low = Load(through(gateway, "batch"), callers=_LOW, pause=0.01)
    with low, Load(through(gateway, "important"), callers=_HIGH, pause=0.01) as high:
        low.wait_for(_REQUESTS)
    report.requests([*high.results, *low.results])
    most_open = [replica.counts()["most_open"] for replica in replicas]
    text = f"at most {' and '.join(map(str, most_open))} requests at one time, of {_MAX_IN_FLIGHT}"
    report.law(max(most_open) == _MAX_IN_FLIGHT, "in flight", text)
    passed = sum(result.success for result in high.results)
    text = f"{passed} of {len(high.results)} passed"
    report.law(passed == len(high.results), "high", text)
    passed = sum(result.success for result in low.results)
    busy = sum(result.code == "upstream_busy" for result in low.results)
    text = f"{passed} of {len(low.results)} passed, {busy} got 429 upstream_busy"
    report.law(passed + busy == len(low.results) and busy > 0, "low", text)
    return report

"""One of eight replicas accepts requests and never answers.

Law: a caller whose request it has gets an error after `timeouts.first_byte` (it may be working, so
the request is not sent again). Such requests are at most those that reach it before its breaker
opens in each worker, and its probes: `breaker.failures` and one for each caller that was in flight
for each of two workers, and one probe per `breaker.cooldown` and worker.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "one of eight replicas accepts requests and never answers"
_FAILURES, _CALLERS, _WORKERS, _COOLDOWN = 3, 16, 2, 5


def run(bed: Bed) -> Report:
    report = Report()
    silent = bed.start_replicas()[3]
    upstream = {
        "timeouts": {"first_byte": "1s"},
        "breaker": {"failures": _FAILURES, "cooldown": f"{_COOLDOWN}s"},
    }
    (gateway,) = bed.start_gateways(bed.config(upstream=upstream), count=1)
    with Load(through(gateway), callers=_CALLERS, pause=0.03) as load:
        load.wait_for(200)
        silent.behave(silent=True)
        start = time.monotonic()
        load.wait_for(2500)
    probes = (time.monotonic() - start) // _COOLDOWN + 1
    failed = [result for result in load.results if not result.success]
    most = int(_FAILURES * _WORKERS + _CALLERS + probes * _WORKERS)
    text = f"{len(failed)} of {len(load.results):,} requests were answered 504, at most {most}"
    timeouts = all(result.status == 504 and result.complete for result in failed)
    report.law(timeouts and len(failed) <= most, "failed", text)
    longest = max(result.seconds for result in load.results)
    report.law(longest < 5, "longest", f"{longest:.1f} s, of timeouts.first_byte 1 s")
    return report

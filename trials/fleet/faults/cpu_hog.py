"""Thirty limits are exhausted at once while other processes take all of the CPU.

Law: each of them lets exactly its limit pass: being short of CPU is no outage of the counters.
"""

from __future__ import annotations

import os
import sys

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "no fault but a CPU hog: 30 limits at once, on three instances"
_RUNS, _LIMIT, _REQUESTS = 30, 20, 60
_HOG = "while True: pass"


def run(bed: Bed) -> Report:
    report = Report()
    redis = bed.start_redis()
    bed.start_replicas(2)
    names = [f"limited-{number}" for number in range(_RUNS)]
    tokens = {name: {"rate": f"{_LIMIT}/10m"} for name in names}
    bed.start_gateways(bed.config({"counters": redis.url}, tokens=tokens))
    front = bed.start_front()
    for number in range(2 * (os.cpu_count() or 1)):
        bed.processes.start([sys.executable, "-c", _HOG], bed.folder, bed.folder / f"hog{number}")
    loads = [Load(through(front, name), callers=2, most=_REQUESTS) for name in names]
    for load in loads:
        load.start()
    for load in loads:
        load.join()
    report.requests([result for load in loads for result in load.results])
    passed = [sum(result.success for result in load.results) for load in loads]
    exact = sum(count == _LIMIT for count in passed)
    text = f"{exact} of {_RUNS} let exactly {_LIMIT} of {_REQUESTS} pass; "
    text += f"they passed {min(passed)} to {max(passed)}"
    report.law(exact == _RUNS, "limits", text)
    return report

"""The only Redis is killed and starts again without its data.

Law: no request is lost. At most L * (2 + k) pass of a limit L in a window in which Redis lost its
data k times.
"""

from __future__ import annotations

import time

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "kill -9 of Redis, which comes back after 3 s without its data"
_LIMIT, _WINDOW = 90, 10


def run(bed: Bed) -> Report:
    report = Report()
    redis = bed.start_redis()
    bed.start_replicas(2)
    tokens = {"limited": {"rate": f"{_LIMIT}/{_WINDOW}s"}}
    bed.start_gateways(bed.config({"counters": redis.url}, tokens=tokens))
    front = bed.start_front()
    with Load(through(front, "limited"), callers=8, pause=0.02) as load:
        time.sleep(_WINDOW / 4)
        redis.process.kill()
        time.sleep(3)
        redis.start()
        time.sleep(_WINDOW)
    report.requests(load.results)
    report.limit(load.results, _WINDOW, 3 * _LIMIT, "L * (2 + k), Redis lost its data once")
    return report

"""One of eight replicas answers 503 in every other second.

Law: no caller sees it: another replica answers.
"""

from __future__ import annotations

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load
from trials.fleet.report import Report

TITLE = "one of eight replicas fails and works in turn, every second"


def run(bed: Bed) -> Report:
    report = Report()
    flapping = bed.start_replicas()[3]
    (gateway,) = bed.start_gateways(bed.config(), count=1)
    flapping.behave(flapping=1.0)
    with Load(through(gateway), callers=16, pause=0.05) as load:
        load.wait_for(2000)
    report.requests(load.results)
    statuses = flapping.counts()["statuses"]
    failed, worked = statuses.get("503", 0), statuses.get("200", 0)
    share = failed / len(load.results)
    report.figure("flapping", f"it answered {worked} requests and failed {failed} ({share:.1%})")
    return report

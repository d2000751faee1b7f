"""Playing cases, one after the other, each on its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.offline.cases.case import Case, Failure
from engine.offline.cases.judge import judge
from engine.offline.rehearsal.observation import Seen
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import code_of
from engine.plan.route import Plan


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case; `seconds` it took, `said` what the gateway said of its own accord."""

    case: Case
    failures: list[Failure]
    seconds: float
    said: str = ""

    @property
    def passed(self) -> bool:
        return not self.failures


def run(cases: Iterable[Case], plan: Plan) -> Iterator[Result]:
    """The results as they come."""
    for case in cases:
        began = time.monotonic()
        try:
            seen = rehearse(plan, case.request, case.caller, case.answers)
            failures = judge(case, seen, plan.config)
            said = _said(seen)
        except ValueError as error:
            failures = [Failure(case.place(), "request", "one that can be sent", str(error))]
            said = ""
        yield Result(case, failures, time.monotonic() - began, said)


def _said(seen: Seen) -> str:
    if seen.status < 400:
        return ""
    by = "the router" if seen.route is None else seen.refused_by or "the upstream"
    message = f": {seen.error.message}" if seen.error is not None else ""
    return f"refused by {by} with {seen.status} {code_of(seen)}{message}"

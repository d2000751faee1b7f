"""Playing cases, one after the other, each on its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.offline.cases.case import Case, Failure
from engine.offline.cases.judge import judge
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Seen
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import code_of
from engine.offline.second_opinion.compare import compare_request
from engine.plan.route import Plan


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case; `seconds` it took, `said` what the gateway said of its own accord."""

    case: Case
    failures: list[Failure]
    seconds: float
    said: str = ""
    warnings: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return not self.failures


def run(cases: Iterable[Case], plan: Plan, *, second_opinion: bool = False) -> Iterator[Result]:
    """The results as they come; with a `second_opinion`, their warnings too."""
    display = CredentialDisplay(plan.config)
    for case in cases:
        began = time.monotonic()
        warnings: list[str] = []
        try:
            seen = rehearse(plan, case.request, case.caller, case.answers)
            failures = judge(case, seen, plan.config)
            said = _said(seen)
            if second_opinion:
                warnings = [display.text(warning) for warning in compare_request(plan, seen)]
        except ValueError as error:
            failures = [Failure(case.place(), "request", "one that can be sent", str(error))]
            said = ""
        yield Result(case, failures, time.monotonic() - began, said, warnings)


def _said(seen: Seen) -> str:
    if seen.status < 400:
        return ""
    by = "the router" if seen.route is None else seen.refused_by or "the upstream"
    message = f": {seen.error.message}" if seen.error is not None else ""
    return f"refused by {by} with {seen.status} {code_of(seen)}{message}"

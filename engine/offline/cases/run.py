"""Runs cases, each in a new application."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from engine.offline.cases.judge import judge
from engine.offline.cases.read import Case, Failure
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import code_of
from engine.offline.rehearsal.tool_calls import CODE
from engine.plan.route import Plan


class Result(Struct, frozen=True):
    """The result of a case: its failures, its duration, and the gateway's `refusal`, "" for
    none."""

    case: Case
    failures: list[Failure]
    seconds: float
    refusal: str = ""
    warnings: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return not self.failures


def run(cases: Iterable[Case], plan: Plan, *, second_opinion: bool = False) -> Iterator[Result]:
    """Yield the result of each case; with `second_opinion` also the warnings of openapi-core."""
    display = CredentialDisplay(plan.config)
    for case in cases:
        start = time.monotonic()
        warnings = [case.warning] if case.warning else []
        try:
            rehearsal = _rehearsal(case, plan)
            failures = judge(case, rehearsal, plan.config)
            refusal = _refusal(rehearsal)
            if second_opinion and case.refusal is None:
                from engine.offline.second_opinion.compare import compare_request

                warnings += [display.text(warning) for warning in compare_request(plan, rehearsal)]
        except ValueError as error:
            failures = [Failure(case.place(), "request", "one that can be sent", str(error))]
            refusal = ""
        yield Result(case, failures, time.monotonic() - start, refusal, warnings)


def _rehearsal(case: Case, plan: Plan) -> Rehearsal:
    """What becomes of a case; a call that its tool refuses is no request."""
    if case.refusal is None:
        return rehearse(plan, case.request, case.caller, case.answers, case.arrival)
    refusal = case.refusal
    return Rehearsal(case.request, route=case.route, error=refusal, status=refusal.status)


def _refusal(rehearsal: Rehearsal) -> str:
    if rehearsal.status < 400:
        return ""
    by = "the router" if rehearsal.route is None else rehearsal.refused_by or "the upstream"
    if rehearsal.error is not None and rehearsal.error.code == CODE:
        by = "the tool"
    message = f": {rehearsal.error.message}" if rehearsal.error is not None else ""
    return f"refused by {by} with {rehearsal.status} {code_of(rehearsal)}{message}"

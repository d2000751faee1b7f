"""Runs cases, each in a new application, and judges the results. ONE ENTRY OF `ACTUAL_VALUES` = ONE
EXPECTATION."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson
from msgspec import Struct

from engine.config.config import Config
from engine.offline.cases.read import Case, Failure
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Rehearsal, SentRequest
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import code_of
from engine.offline.rehearsal.sent_request import ABSENT, model_sent
from engine.offline.rehearsal.tool_calls import CODE
from engine.plan.plan import Plan
from engine.values.trees import Json


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


def judge(case: Case, rehearsal: Rehearsal, config: Config) -> list[Failure]:
    """The expectations that are not met. Credentials are not shown."""
    display = CredentialDisplay(config)
    comparison = _Comparison(case, rehearsal, config, display)
    failures: list[Failure] = []
    for name, expected in case.expect.items():
        if name == "headers":
            failures += comparison.headers(expected)
        elif name == "body":
            failures += comparison.body(expected)
        else:
            actual = ACTUAL_VALUES[name](comparison)
            if actual != expected:
                failures.append(comparison.failure((name,), expected, actual))
    return failures


class _Comparison:
    def __init__(
        self, case: Case, rehearsal: Rehearsal, config: Config, display: CredentialDisplay
    ) -> None:
        self.case = case
        self.rehearsal = rehearsal
        self.config = config
        self.display = display

    @property
    def request(self) -> SentRequest | None:
        """The last request sent: to the upstream whose response the caller gets."""
        return self.rehearsal.sent_requests[-1] if self.rehearsal.sent_requests else None

    def failure(self, steps: tuple[str, ...], expected: object, actual: object) -> Failure:
        expectation = ".".join(steps)
        displayed = self.display.text(_as_json(actual))
        return Failure(
            self.case.place(*steps), expectation, self.display.text(_as_json(expected)), displayed
        )

    def headers(self, expected: Json) -> Iterator[Failure]:
        """Compare headers sent to the upstream: a value, or null for one that must not be sent."""
        request = self.request
        real = dict(request.headers) if request is not None else {}
        displayed = dict(self.display.headers(request.upstream, request.headers)) if request else {}
        for name, value in expected.items():
            low = name.lower()
            values = (real.get(low), displayed.get(low))
            if low in real if value is None else value not in values:
                actual = displayed.get(low, ABSENT if request is not None else None)
                yield self.failure(("headers", name), ABSENT if value is None else value, actual)

    def body(self, expected: object) -> Iterator[Failure]:
        """Compare the body sent to the upstream: JSON that contains the expected members, or equal
        text."""
        request = self.request
        if request is None:
            yield self.failure(("body",), expected, None)
            return
        try:
            actual = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            actual = request.body.decode(errors="replace")
        yield from self._within(("body",), expected, actual)

    def _within(
        self, steps: tuple[str, ...], expected: object, actual: object
    ) -> Iterator[Failure]:
        if isinstance(expected, dict) and isinstance(actual, dict):
            for name, value in expected.items():
                if value is None and actual.get(name) is None:
                    continue  # null expects an absent member or null
                yield from self._within((*steps, name), value, actual.get(name, ABSENT))
        elif type(expected) is not type(actual) or expected != actual:
            yield self.failure(steps, expected, actual)


def _operation(comparison: _Comparison) -> str | None:
    route = comparison.rehearsal.route
    return route.operation.id if route is not None else None


def _token(comparison: _Comparison) -> str | None:
    exchange = comparison.rehearsal.exchange
    return exchange.caller.name if exchange is not None and exchange.caller is not None else None


def _model(comparison: _Comparison) -> str | None:
    request = comparison.request
    if request is None:
        return None
    return model_sent(comparison.rehearsal, request, comparison.config)


def _dropped(comparison: _Comparison) -> list[str] | None:
    """The fields that the translation of the last request dropped; None without a translation."""
    request = comparison.request
    translation = comparison.rehearsal.translation(request) if request is not None else None
    return list(translation.dropped) if translation is not None else None


def _url(comparison: _Comparison) -> str | None:
    request = comparison.request
    return comparison.display.url(request.upstream, request.url) if request is not None else None


def _rule(comparison: _Comparison) -> int | None:
    exchange = comparison.rehearsal.exchange
    rule = None if exchange is None else exchange.model.rule
    return None if rule is None else rule + 1


ACTUAL_VALUES: dict[str, Callable[[_Comparison], Any]] = {
    "operation": _operation,
    "status": lambda comparison: comparison.rehearsal.status,
    "error": lambda comparison: code_of(comparison.rehearsal) or None,
    "param": lambda comparison: (
        (comparison.rehearsal.error.param or None) if comparison.rehearsal.error else None
    ),
    "token": _token,
    "upstream": lambda comparison: comparison.request.upstream if comparison.request else None,
    "upstreams": lambda comparison: [
        request.upstream for request in comparison.rehearsal.sent_requests
    ],
    "model": _model,
    "rule": _rule,
    "dropped": _dropped,
    "url": _url,
}


def _as_json(value: object) -> str:
    if value is ABSENT:
        return "none"
    return json.dumps(value, ensure_ascii=False)

"""Compares a rehearsal with a case. ONE ENTRY OF THE TABLE = ONE EXPECTATION."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from engine.config.config import Config
from engine.offline.cases.case import Case, Failure
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Rehearsal, SentRequest
from engine.offline.rehearsal.report import code_of
from engine.offline.rehearsal.sent_request import ABSENT, model_sent


def judge(case: Case, rehearsal: Rehearsal, config: Config) -> list[Failure]:
    """The expectations that are not met. Credentials are not shown."""
    display = CredentialDisplay(config)
    judged = _Judged(case, rehearsal, config, display)
    failures: list[Failure] = []
    for name, expected in case.expect.items():
        if name == "headers":
            failures += judged.headers(expected)
        elif name == "body":
            failures += judged.body(expected)
        else:
            actual = ACTUAL_VALUES[name](judged)
            if actual != expected:
                failures.append(judged.failure((name,), expected, actual))
    return failures


class _Judged:
    def __init__(
        self, case: Case, rehearsal: Rehearsal, config: Config, display: CredentialDisplay
    ) -> None:
        self.case = case
        self.rehearsal = rehearsal
        self.config = config
        self.display = display

    @property
    def sent(self) -> SentRequest | None:
        """The last request sent: to the upstream whose response the caller gets."""
        return self.rehearsal.sent[-1] if self.rehearsal.sent else None

    def failure(self, steps: tuple[str, ...], expected: Any, actual: Any) -> Failure:
        what = ".".join(steps)
        displayed = self.display.text(_shown(actual))
        return Failure(
            self.case.place(*steps), what, self.display.text(_shown(expected)), displayed
        )

    def headers(self, expected: dict[str, Any]) -> Iterator[Failure]:
        """Headers sent on: by value, or null for one that must not be sent."""
        request = self.sent
        real = dict(request.headers) if request is not None else {}
        displayed = dict(self.display.headers(request.upstream, request.headers)) if request else {}
        for name, value in expected.items():
            low = name.lower()
            met = low not in real if value is None else value in (real.get(low), displayed.get(low))
            if not met:
                actual = displayed.get(low, ABSENT if request is not None else None)
                yield self.failure(("headers", name), ABSENT if value is None else value, actual)

    def body(self, expected: Any) -> Iterator[Failure]:
        """The body sent on: JSON that holds at least what is expected, or text as it is."""
        request = self.sent
        if request is None:
            yield self.failure(("body",), expected, None)
            return
        try:
            actual = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            actual = request.body.decode(errors="replace")
        yield from self._within(("body",), expected, actual)

    def _within(self, steps: tuple[str, ...], expected: Any, actual: Any) -> Iterator[Failure]:
        if isinstance(expected, dict) and isinstance(actual, dict):
            for name, value in expected.items():
                if value is None and actual.get(name) is None:
                    continue  # null: not there, or null
                yield from self._within((*steps, name), value, actual.get(name, ABSENT))
        elif type(expected) is not type(actual) or expected != actual:
            yield self.failure(steps, expected, actual)


def _operation(judged: _Judged) -> str | None:
    return judged.rehearsal.route.operation.id if judged.rehearsal.route is not None else None


def _token(judged: _Judged) -> str | None:
    exchange = judged.rehearsal.exchange
    return exchange.caller.name if exchange is not None and exchange.caller is not None else None


def _model(judged: _Judged) -> str | None:
    route, request = judged.rehearsal.route, judged.sent
    if route is None or request is None:
        return None
    return model_sent(route, request, judged.config)


def _url(judged: _Judged) -> str | None:
    request = judged.sent
    return judged.display.url(request.upstream, request.url) if request is not None else None


ACTUAL_VALUES: dict[str, Callable[[_Judged], Any]] = {
    "operation": _operation,
    "status": lambda judged: judged.rehearsal.status,
    "error": lambda judged: code_of(judged.rehearsal) or None,
    "param": lambda judged: (
        (judged.rehearsal.error.param or None) if judged.rehearsal.error else None
    ),
    "token": _token,
    "upstream": lambda judged: judged.sent.upstream if judged.sent is not None else None,
    "upstreams": lambda judged: [sent.upstream for sent in judged.rehearsal.sent],
    "model": _model,
    "url": _url,
}


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "none"
    return json.dumps(value, ensure_ascii=False)

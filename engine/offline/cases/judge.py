"""Whether what was seen is what a case expects. ONE ENTRY OF THE TABLE = ONE EXPECTATION."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from engine.config.model import Config
from engine.offline.cases.case import Case, Failure
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Seen, Sent
from engine.offline.rehearsal.report import code_of
from engine.offline.rehearsal.sent_request import ABSENT, model_sent


def judge(case: Case, seen: Seen, config: Config) -> list[Failure]:
    """Every expectation that was not met. Credentials are not shown."""
    display = CredentialDisplay(config)
    judged = _Judged(case, seen, config, display)
    failures: list[Failure] = []
    for name, expected in case.expect.items():
        if name == "headers":
            failures += judged.headers(expected)
        elif name == "body":
            failures += judged.body(expected)
        else:
            found = _FOUND[name](judged)
            if found != expected:
                failures.append(judged.failure((name,), expected, found))
    return failures


class _Judged:
    def __init__(self, case: Case, seen: Seen, config: Config, display: CredentialDisplay) -> None:
        self.case = case
        self.seen = seen
        self.config = config
        self.display = display

    @property
    def sent(self) -> Sent | None:
        """What was sent last: to the upstream whose answer the caller gets."""
        return self.seen.sent[-1] if self.seen.sent else None

    def failure(self, steps: tuple[str, ...], expected: Any, found: Any) -> Failure:
        what = ".".join(steps)
        shown = self.display.text(_shown(found))
        return Failure(self.case.place(*steps), what, self.display.text(_shown(expected)), shown)

    def headers(self, expected: dict[str, Any]) -> Iterator[Failure]:
        """Headers sent on: by value, or null for one that must not be sent."""
        sent = self.sent
        real = dict(sent.headers) if sent is not None else {}
        shown = dict(self.display.headers(sent.upstream, sent.headers)) if sent else {}
        for name, value in expected.items():
            low = name.lower()
            met = low not in real if value is None else value in (real.get(low), shown.get(low))
            if not met:
                found = shown.get(low, ABSENT if sent is not None else None)
                yield self.failure(("headers", name), ABSENT if value is None else value, found)

    def body(self, expected: Any) -> Iterator[Failure]:
        """The body sent on: JSON that holds at least what is expected, or text as it is."""
        sent = self.sent
        if sent is None:
            yield self.failure(("body",), expected, None)
            return
        try:
            found = orjson.loads(sent.body)
        except orjson.JSONDecodeError:
            found = sent.body.decode(errors="replace")
        yield from self._within(("body",), expected, found)

    def _within(self, steps: tuple[str, ...], expected: Any, found: Any) -> Iterator[Failure]:
        if isinstance(expected, dict) and isinstance(found, dict):
            for name, value in expected.items():
                if value is None and found.get(name) is None:
                    continue  # null: not there, or null
                yield from self._within((*steps, name), value, found.get(name, ABSENT))
        elif type(expected) is not type(found) or expected != found:
            yield self.failure(steps, expected, found)


def _operation(judged: _Judged) -> str | None:
    return judged.seen.route.operation.id if judged.seen.route is not None else None


def _token(judged: _Judged) -> str | None:
    exchange = judged.seen.exchange
    return exchange.caller.name if exchange is not None and exchange.caller is not None else None


def _model(judged: _Judged) -> str | None:
    route, sent = judged.seen.route, judged.sent
    if route is None or sent is None:
        return None
    return model_sent(route, sent, judged.config)


def _url(judged: _Judged) -> str | None:
    sent = judged.sent
    return judged.display.url(sent.upstream, sent.url) if sent is not None else None


_FOUND: dict[str, Callable[[_Judged], Any]] = {
    "operation": _operation,
    "status": lambda judged: judged.seen.status,
    "error": lambda judged: code_of(judged.seen) or None,
    "param": lambda judged: (judged.seen.error.param or None) if judged.seen.error else None,
    "token": _token,
    "upstream": lambda judged: judged.sent.upstream if judged.sent is not None else None,
    "upstreams": lambda judged: [sent.upstream for sent in judged.seen.sent],
    "model": _model,
    "url": _url,
}


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "none"
    return json.dumps(value, ensure_ascii=False)

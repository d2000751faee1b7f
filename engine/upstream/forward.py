"""Sending a request on: to one target after another, until one begins an answer with content.

The law: a target is asked when its breaker lets it and a credential is awake; each once before any
of them twice; a further try at an upstream takes of its budget and waits as `retry` says, never
past the first upstream's `total`. What the last one answered is what the caller gets.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import gevent

from engine.config.model import Credential
from engine.dialects import Dialect
from engine.exchange.exchange import Exchange, Response
from engine.exchange.record import Attempt
from engine.exchange.services import Services
from engine.spec.expression import Expression
from engine.upstream import retry
from engine.upstream.attempt import AttemptResult, attempt
from engine.upstream.choose import order
from engine.upstream.credential_rotation import REFUSED_REST
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.reply import (
    credentials_refused,
    refuse,
    relay,
    unavailable,
)
from engine.upstream.target import Target, Upstream

log = logging.getLogger("modelway")
_PLAIN = "/:@+,;=()[]"


@dataclass(slots=True)
class _Course:
    """How far one request has come: its tries by target, the last of them, and its time."""

    targets: Sequence[Target]
    end: float
    tries: dict[Target, int] = field(default_factory=dict)
    refused: set[tuple[Target, Credential | None]] = field(default_factory=set)
    last: AttemptResult | None = None
    ready: dict[Target, float] = field(default_factory=dict)  # when a Retry-After is over


class Forward:
    """A handler that sends the exchange to one of its targets, or of the `fixed` ones.

    Headers that the document declares as parameters (`declared`) pass beside those of dialect and
    upstream, and so do those it declares for answers (`declared_answers`) on the way back; with
    `debug` the answer names its target. Raises GatewayError 502, 503 or 504 when
    none answers, AbortConnection when the caller leaves.
    """

    def __init__(
        self,
        expression: Expression | None,
        *,
        fixed: Sequence[Target],
        dialect: Dialect,
        upstreams: Sequence[Upstream],
        services: Services,
        watcher: DisconnectWatcher,
        declared: Sequence[str] = (),
        declared_answers: Sequence[str] = (),
        debug: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        named = expression.steps if expression is not None and expression.place == "header" else ()
        needed = (*named, *declared)
        self._headers = {u.name: u.headers(dialect.request_headers, needed) for u in upstreams}
        self._response_headers = {
            u.name: u.response_headers(dialect, declared_answers) for u in upstreams
        }
        self._expression = expression
        self._fixed = fixed
        self._dialect = dialect
        self._services = services
        self._watcher = watcher
        self._debug = debug
        self._clock = clock

    def __call__(self, exchange: Exchange) -> Response:
        targets = exchange.targets or order(self._fixed, self._services.dice)
        course = _Course(targets, self._clock() + targets[0].upstream.timeouts.total)
        with self._watcher.watching(exchange.environ.get("gunicorn.socket")):
            while (chosen := self._next(course, exchange)) is not None:
                if not self._try(course, *chosen, exchange):
                    break
            return self._conclude(course, exchange)

    def _next(self, course: _Course, exchange: Exchange) -> tuple[Target, Credential | None] | None:
        """The next target and a credential for it, after waiting as long as it takes."""
        asked, targets = course.tries, course.targets
        if asked and len(targets) > 1:
            targets = sorted(targets, key=lambda target: asked.get(target, 0))
        for target in targets:
            upstream, tries = target.upstream, asked.get(target, 0)
            wait = self._wait(course, target, tries) if tries else 0.0
            if wait is None:
                continue
            moment = self._clock() + wait
            if moment >= course.end:
                continue
            credential = upstream.credentials.take(moment)
            if (credential is None and upstream.credentials) or (
                course.refused and (target, credential) in course.refused
            ):
                continue
            if target.breaker.wait(moment) > 0:
                continue
            if not asked or not any(other.upstream is upstream for other in asked):
                upstream.budget.request()
            elif not upstream.budget.take():
                continue
            if not target.breaker.allows(moment):
                continue
            if wait:
                gevent.sleep(wait)
                exchange.record.wait_time += wait
            return target, credential
        return None

    def _wait(self, course: _Course, target: Target, tries: int) -> float | None:
        """Seconds before this try; None if there is to be none."""
        policy = target.upstream.retry
        if tries >= policy.attempts:
            return None
        ready = course.ready.get(target)
        if ready is not None:
            wait = max(0.0, ready - self._clock())
            return wait if wait <= policy.max_wait else None
        return retry.backoff(tries - 1, self._services.dice)

    def _try(
        self,
        course: _Course,
        target: Target,
        credential: Credential | None,
        exchange: Exchange,
    ) -> bool:
        """Ask a target and note what came of it; whether another try may follow."""
        course.tries[target] = course.tries.get(target, 0) + 1
        record = exchange.record
        record.attempt_count += 1
        record.upstream, record.model = target.upstream.name, target.served or exchange.model
        record.served_entry = target.entry
        began = time.monotonic()
        if course.last is not None:
            course.last.close()
        tried = course.last = attempt(
            target,
            credential,
            self._headers[target.upstream.name],
            self._expression,
            exchange,
            self._dialect,
            course.end - self._clock(),
        )
        exchange.on_end.append(tried.close)
        record.reached_upstream |= tried.reached
        seconds = _note(exchange, tried, began)
        if not tried.failure:
            target.breaker.succeeded()
            record.first_byte = began + seconds - record.start
            return False
        log.warning(
            "request %s: %s failed (%s): %s",
            exchange.request_id,
            target.name,
            tried.failure,
            tried.error.message if tried.error else f"status {tried.status}",
        )
        self._learn(course, tried, credential)
        return retry.retries(tried.failure, target.upstream.retry.on)

    def _learn(self, course: _Course, tried: AttemptResult, credential: Credential | None) -> None:
        """What a failure says about its target, its credential and when to ask again."""
        target, now, asked = tried.target, self._clock(), self._asked(tried)
        course.ready.pop(target, None)
        if asked is not None:
            course.ready[target] = now + asked
        if retry.counts(tried.failure):
            target.breaker.failed(now)
        else:
            target.breaker.succeeded()  # it is up, whatever it thinks of us
        refused = tried.failure == "credential"
        if refused:
            course.refused.add((target, credential))
        if credential is not None and (refused or tried.failure == "429"):
            rest = REFUSED_REST if refused else min(asked or 1.0, REFUSED_REST)
            target.upstream.credentials.rest(credential, now + rest, refused=refused)

    def _asked(self, tried: AttemptResult) -> float | None:
        """The seconds an upstream asks us to wait."""
        if tried.answer is None:
            return None
        ms, seconds = tried.answer.header("retry-after-ms"), tried.answer.header("retry-after")
        return retry.asked_wait(ms, seconds, self._services.clock())

    def _conclude(self, course: _Course, exchange: Exchange) -> Response:
        """The response that is left when no further try is made."""
        last = course.last
        if last is None:
            now = self._clock()
            if all(target.upstream.credentials.all_refused(now) for target in course.targets):
                raise credentials_refused()
            raise unavailable(
                min(
                    max(target.breaker.wait(now), target.upstream.credentials.wait(now))
                    for target in course.targets
                )
            )
        headers = self._returned(last, exchange)
        if last.failure:
            retried = sum(course.tries.values()) > 1
            return refuse(last, headers, exchange, self._dialect, retried)
        response = relay(last, headers, exchange, self._dialect, self._watcher)
        if self._debug:
            response.headers.append(("x-modelway-target", quote(last.target.name, safe=_PLAIN)))
        return response

    def _returned(self, tried: AttemptResult, exchange: Exchange) -> list[tuple[str, str]]:
        """The headers of an upstream's answer that the caller gets; none that holds a credential
        of ours."""
        if tried.answer is None:
            return []
        upstream = tried.target.upstream
        rules = self._response_headers[upstream.name]
        headers = rules.pick(tried.answer.headers, tried.path, exchange.mount)
        return upstream.redaction.filter_headers(headers)


def _note(exchange: Exchange, tried: AttemptResult, began: float) -> float:
    """Keep what came of a try, for those who observe the end; the seconds that it took."""
    record, target = exchange.record, tried.target
    seconds = time.monotonic() - began
    record.wait_time += seconds
    model = target.model or exchange.model
    record.attempts.append(
        Attempt(
            target.name, target.upstream.name, model, tried.failure, tried.status, began, seconds
        )
    )
    return seconds

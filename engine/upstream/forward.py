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
from typing import cast
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
from engine.upstream.credentials import REFUSED_SECONDS
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.gateway_errors import credentials_refused, unavailable
from engine.upstream.relay_response import refuse, relay
from engine.upstream.target import Target, Upstream

log = logging.getLogger("modelway")
_PLAIN = "/:@+,;=()[]"


@dataclass(slots=True)
class _Progress:
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
        targets = cast("Sequence[Target]", exchange.targets)  # set by `select_model`
        targets = targets or order(self._fixed, self._services.dice)
        progress = _Progress(targets, self._clock() + targets[0].upstream.timeouts.total)
        with self._watcher.watch(exchange.connection):
            while (chosen := self._next_target(progress, exchange)) is not None:
                if not self._attempt(progress, *chosen, exchange):
                    break
            return self._respond(progress, exchange)

    def _next_target(
        self, progress: _Progress, exchange: Exchange
    ) -> tuple[Target, Credential | None] | None:
        """The next target and a credential for it, after waiting as long as it takes."""
        asked, targets = progress.tries, progress.targets
        if asked and len(targets) > 1:
            targets = sorted(targets, key=lambda target: asked.get(target, 0))
        for target in targets:
            upstream, tries = target.upstream, asked.get(target, 0)
            wait = self._wait(progress, target, tries) if tries else 0.0
            if wait is None:
                continue
            moment = self._clock() + wait
            if moment >= progress.end:
                continue
            credential = upstream.credentials.take(moment)
            if (credential is None and upstream.credentials) or (
                progress.refused and (target, credential) in progress.refused
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

    def _wait(self, progress: _Progress, target: Target, tries: int) -> float | None:
        """Seconds before this try; None if there is to be none."""
        policy = target.upstream.retry
        if tries >= policy.attempts:
            return None
        ready = progress.ready.get(target)
        if ready is not None:
            wait = max(0.0, ready - self._clock())
            return wait if wait <= policy.max_wait else None
        return retry.backoff(tries - 1, self._services.dice)

    def _attempt(
        self,
        progress: _Progress,
        target: Target,
        credential: Credential | None,
        exchange: Exchange,
    ) -> bool:
        """Ask a target and note what came of it; whether another try may follow."""
        progress.tries[target] = progress.tries.get(target, 0) + 1
        record = exchange.record
        record.attempt_count += 1
        record.upstream, record.model = target.upstream.name, target.served or exchange.model
        record.served_entry = target.entry
        began = time.monotonic()
        if progress.last is not None:
            progress.last.close()
        result = progress.last = attempt(
            target,
            credential,
            self._headers[target.upstream.name],
            self._expression,
            exchange,
            self._dialect,
            progress.end - self._clock(),
        )
        exchange.on_end.append(result.close)
        record.reached_upstream |= result.reached
        seconds = _note(exchange, result, began)
        if not result.failure:
            target.breaker.succeeded()
            record.first_byte = began + seconds - record.start
            return False
        log.warning(
            "request %s: %s failed (%s): %s",
            exchange.request_id,
            target.name,
            result.failure,
            result.error.message if result.error else f"status {result.status}",
        )
        self._record_failure(progress, result, credential)
        return retry.may_retry(result.failure, target.upstream.retry.on)

    def _record_failure(
        self, progress: _Progress, result: AttemptResult, credential: Credential | None
    ) -> None:
        """What a failure says about its target, its credential and when to ask again."""
        target, now, asked = result.target, self._clock(), self._retry_after(result)
        progress.ready.pop(target, None)
        if asked is not None:
            progress.ready[target] = now + asked
        if retry.counts_against_target(result.failure):
            target.breaker.failed(now)
        else:
            target.breaker.succeeded()  # it is up, whatever it thinks of us
        refused = result.failure == "credential"
        if refused:
            progress.refused.add((target, credential))
        if credential is not None and (refused or result.failure == "429"):
            rest = REFUSED_SECONDS if refused else min(asked or 1.0, REFUSED_SECONDS)
            target.upstream.credentials.rest(credential, now + rest, refused=refused)

    def _retry_after(self, result: AttemptResult) -> float | None:
        """The seconds an upstream asks us to wait."""
        if result.response is None:
            return None
        ms, seconds = (
            result.response.header("retry-after-ms"),
            result.response.header("retry-after"),
        )
        return retry.retry_delay(ms, seconds, self._services.clock())

    def _respond(self, progress: _Progress, exchange: Exchange) -> Response:
        """The response that is left when no further try is made."""
        last = progress.last
        if last is None:
            now = self._clock()
            if all(target.upstream.credentials.all_refused(now) for target in progress.targets):
                raise credentials_refused()
            raise unavailable(
                min(
                    max(target.breaker.wait(now), target.upstream.credentials.wait(now))
                    for target in progress.targets
                )
            )
        headers = self._headers_for_caller(last, exchange)
        if last.failure:
            retried = sum(progress.tries.values()) > 1
            return refuse(last, headers, exchange, self._dialect, retried)
        response = relay(last, headers, exchange, self._dialect, self._watcher)
        if self._debug:
            response.headers.append(("x-modelway-target", quote(last.target.name, safe=_PLAIN)))
        return response

    def _headers_for_caller(
        self, result: AttemptResult, exchange: Exchange
    ) -> list[tuple[str, str]]:
        """The headers of an upstream's answer that the caller gets; none that holds a credential
        of ours."""
        if result.response is None:
            return []
        upstream = result.target.upstream
        rules = self._response_headers[upstream.name]
        headers = rules.pick(result.response.headers, result.path, exchange.mount)
        return upstream.redaction.filter_headers(headers)


def _note(exchange: Exchange, result: AttemptResult, began: float) -> float:
    """Keep what came of a try, for those who observe the end; the seconds that it took."""
    record, target = exchange.record, result.target
    seconds = time.monotonic() - began
    record.wait_time += seconds
    model = target.model or exchange.model
    record.attempts.append(
        Attempt(
            target.name, target.upstream.name, model, result.failure, result.status, began, seconds
        )
    )
    return seconds

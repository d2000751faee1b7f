"""Forward a request: attempt one target after another until a response has content.

The law: a target is attempted if its breaker allows it and a credential is available; every target
once before any of them twice. A retry at an upstream takes from its retry budget and waits as
`retry` says, never beyond the first upstream's `total`. The caller gets the last attempt's result.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import quote

import gevent

from engine.config.upstreams import Credential
from engine.dialects import Dialect
from engine.exchange.exchange import Exchange, Response
from engine.exchange.interfaces import Headers
from engine.exchange.record import Attempt
from engine.exchange.services import Services
from engine.spec.expression import Expression
from engine.translations import AnyExchange
from engine.upstream import retry
from engine.upstream.attempt import AttemptResult, attempt
from engine.upstream.choose import order
from engine.upstream.client.request import UpstreamRequest
from engine.upstream.credentials import REFUSED_SECONDS
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.error_response import credentials_refused, refuse, unavailable
from engine.upstream.relay_response import relay
from engine.upstream.request import build_request
from engine.upstream.target import Target, Upstream
from engine.upstream.translations import RouteTranslations, translated_request
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")
_SAFE = "/:@+,;=()[]"


@dataclass(slots=True)
class _Progress:
    """The state of one request: attempts by target, the last result, the deadline.

    `ready` is when the Retry-After of a target ends, `refused` the credentials it has refused.
    `translated` are the requests of targets that get them translated, None for those that do not;
    `untranslatable` is why a target cannot get the request at all.
    """

    targets: Sequence[Target]
    deadline: float
    attempts: dict[Target, int] = field(default_factory=dict)
    refused: set[tuple[Target, Credential | None]] = field(default_factory=set)
    last: AttemptResult | None = None
    ready: dict[Target, float] = field(default_factory=dict)
    translated: dict[Target, AnyExchange | None] = field(default_factory=dict)
    untranslatable: dict[Target, GatewayError] = field(default_factory=dict)


class Forward:
    """The last handler of a route: it sends the exchange to its targets, or to the `fixed` ones.

    Headers that the document declares for requests (`declared`) and for responses
    (`declared_responses`) pass, besides those of dialect and upstream. `translations` are those of
    the route, None where no target needs one. With `debug` the response
    names its target. Raises GatewayError 502, 503 or 504 if no target responds, AbortConnection if
    the caller disconnects.
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
        translations: RouteTranslations | None = None,
        declared: Sequence[str] = (),
        declared_responses: Sequence[str] = (),
        debug: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        model_header = (
            expression.steps if expression is not None and expression.place == "header" else ()
        )
        needed = (*model_header, *declared)
        self._headers = {u.name: u.headers(dialect.request_headers, needed) for u in upstreams}
        self._response_headers = {
            u.name: u.response_headers(dialect, declared_responses) for u in upstreams
        }
        self._expression = expression
        self._fixed = fixed
        self._translations = translations
        self._translated = translations.targets if translations is not None else frozenset()
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
            while (candidate := self._next_target(progress, exchange)) is not None:
                if not self._attempt(progress, *candidate, exchange):
                    break
            return self._respond(progress, exchange)

    def _next_target(
        self, progress: _Progress, exchange: Exchange
    ) -> tuple[Target, Credential | None] | None:
        """The next target and a credential for it, after the wait before a retry; None if no
        attempt may be made."""
        attempts, targets = progress.attempts, progress.targets
        if attempts and len(targets) > 1:
            targets = sorted(targets, key=lambda target: attempts.get(target, 0))
        for target in targets:
            upstream, count = target.upstream, attempts.get(target, 0)
            if (target.entry, upstream.dialect) in self._translated and not self._can_ask(
                target, progress, exchange
            ):
                continue
            wait = self._wait(progress, target, count) if count else 0.0
            if wait is None:
                continue
            moment = self._clock() + wait
            if moment >= progress.deadline:
                continue
            credential = upstream.credentials.take(moment)
            if (credential is None and upstream.credentials) or (
                progress.refused and (target, credential) in progress.refused
            ):
                continue
            if target.breaker.wait(moment) > 0:
                continue
            if not attempts or not any(other.upstream is upstream for other in attempts):
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

    def _can_ask(self, target: Target, progress: _Progress, exchange: Exchange) -> bool:
        """Whether a target can get the request translated, which is done once."""
        assert self._translations is not None
        if target not in progress.translated and target not in progress.untranslatable:
            try:
                progress.translated[target] = self._translations.translate(exchange, target)
            except GatewayError as error:
                progress.untranslatable[target] = error
        return target in progress.translated

    def _request(
        self, target: Target, exchange: Exchange, translated: AnyExchange | None
    ) -> UpstreamRequest:
        if translated is not None:
            return translated_request(target, exchange, translated)
        headers = self._headers[target.upstream.name]
        edits = () if self._translations is None else self._translations.relay_edits(exchange)
        return build_request(target, exchange, headers, self._expression, edits)

    def _wait(self, progress: _Progress, target: Target, attempts: int) -> float | None:
        """Seconds to wait before another attempt; None if there may be none."""
        policy = target.upstream.retry
        if attempts >= policy.attempts:
            return None
        ready = progress.ready.get(target)
        if ready is not None:
            wait = max(0.0, ready - self._clock())
            return wait if wait <= policy.max_wait else None
        return retry.backoff(attempts - 1, self._services.dice)

    def _attempt(
        self,
        progress: _Progress,
        target: Target,
        credential: Credential | None,
        exchange: Exchange,
    ) -> bool:
        """Attempt a target and record the result. Returns whether a retry may follow."""
        progress.attempts[target] = progress.attempts.get(target, 0) + 1
        record = exchange.record
        record.attempt_count += 1
        record.upstream, record.model = target.upstream.name, target.exact_entry or exchange.model
        record.served_entry = target.entry
        start = time.monotonic()
        if progress.last is not None:
            progress.last.close()
        translated = progress.translated.get(target)
        request = self._request(target, exchange, translated)
        result = progress.last = attempt(
            target,
            credential,
            request,
            exchange,
            self._dialect,
            progress.deadline - self._clock(),
            translated,
        )
        exchange.on_end.append(result.close)
        record.reached_upstream |= result.reached
        language = "" if translated is None else translated.translation.target.name
        seconds = _record_attempt(exchange, result, start, language)
        if not result.failure:
            target.breaker.succeeded()
            record.first_byte = start + seconds - record.start
            return False
        reason = result.error.message if result.error else f"status {result.status}"
        failure = f"{target.name} failed ({result.failure}): {reason}"
        log.warning("request %s: %s", exchange.request_id, failure)
        self._record_failure(progress, result, credential)
        return retry.may_retry(result.failure, target.upstream.retry.on)

    def _record_failure(
        self, progress: _Progress, result: AttemptResult, credential: Credential | None
    ) -> None:
        """Apply a failure to the breaker, the credential and the time of the next attempt."""
        target, now, retry_after = result.target, self._clock(), self._retry_after(result)
        progress.ready.pop(target, None)
        if retry_after is not None:
            progress.ready[target] = now + retry_after
        if retry.counts_against_target(result.failure):
            target.breaker.failed(now)
        else:
            target.breaker.succeeded()  # it is up, although it refused this request
        refused = result.failure == "credential"
        if refused:
            progress.refused.add((target, credential))
        if credential is not None and (refused or result.failure == "429"):
            pause = REFUSED_SECONDS if refused else min(retry_after or 1.0, REFUSED_SECONDS)
            target.upstream.credentials.set_aside(credential, now + pause, refused=refused)

    def _retry_after(self, result: AttemptResult) -> float | None:
        """The seconds that the upstream asks to wait, or None."""
        if result.response is None:
            return None
        header = result.response.header
        return retry.retry_delay(
            header("retry-after-ms"), header("retry-after"), self._services.clock()
        )

    def _respond(self, progress: _Progress, exchange: Exchange) -> Response:
        """The response for the caller when no further attempt is made."""
        last = progress.last
        if last is None:
            if len(progress.untranslatable) == len(progress.targets):
                raise progress.untranslatable[progress.targets[0]]
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
            retried = sum(progress.attempts.values()) > 1
            return refuse(last, headers, exchange, self._dialect, retried)
        response = relay(last, headers, exchange, self._dialect, self._watcher)
        if self._debug:
            response.headers.append(("x-modelway-target", quote(last.target.name, safe=_SAFE)))
        return response

    def _headers_for_caller(self, result: AttemptResult, exchange: Exchange) -> Headers:
        """The headers of an upstream's response that pass to the caller, none with a credential of
        ours, and the fields that its translation dropped."""
        if result.response is None:
            return []
        upstream = result.target.upstream
        rules = self._response_headers[upstream.name]
        headers = rules.pick(result.response.headers, result.path, exchange.mount)
        headers = upstream.redaction.filter_headers(headers)
        if result.dropped:
            headers = [*headers, ("x-modelway-dropped", ", ".join(result.dropped))]
        return headers


def _record_attempt(
    exchange: Exchange, result: AttemptResult, start: float, language: str
) -> float:
    """Add an attempt to the record of the request. Returns its duration in seconds."""
    record, target = exchange.record, result.target
    seconds = time.monotonic() - start
    record.wait_time += seconds
    model = target.model or exchange.model
    record.attempts.append(
        Attempt(
            target=target.name,
            upstream=target.upstream.name,
            model=model,
            failure=result.failure,
            status=result.status,
            start=start,
            seconds=seconds,
            language=language,
        )
    )
    return seconds

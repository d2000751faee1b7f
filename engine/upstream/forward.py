"""Forward a request: attempt one target after another until a response has content.

`candidates` decides which target is attempted next, and when. The caller gets the result of the
last attempt.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import gevent

from engine.config.routes import Hedge
from engine.dialects import Dialect
from engine.exchange.disconnect_watcher import DisconnectWatcher
from engine.exchange.environ_headers import RANGES
from engine.exchange.exchange import Exchange, Response
from engine.exchange.member_protocols import Headers
from engine.exchange.request_record import Attempt
from engine.exchange.stage_services import Services
from engine.relay.websocket.message_edits import MessageEdits
from engine.spec.expression import Expression
from engine.upstream.attempts.attempt import attempt
from engine.upstream.attempts.candidates import Candidate, Candidates
from engine.upstream.attempts.hedge import Hedging
from engine.upstream.attempts.request_slots import RequestSlots
from engine.upstream.models.regional_targets import RegionalGroup
from engine.upstream.requests.build_request import build_request, edit_request
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.requests.translated_request import (
    RouteTranslations,
    TranslatedRequests,
    translated_request,
)
from engine.upstream.responses.attempt_result import AttemptResult, note_unused, set_target
from engine.upstream.responses.error_response import refuse, without_retry
from engine.upstream.responses.relay_response import relay
from engine.upstream.targets import retry
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup
from engine.values.admission import rank_of
from engine.values.errors import MAX_RETRY_WAIT

log = logging.getLogger("modelway")
_SAFE = "/:@+,;=()[]"


class Forward:
    """The last handler of a route: it sends a request to the targets of its model, or to the
    `fixed` ones.

    Headers that the document declares for requests (`declared`) and for responses
    (`declared_responses`) pass, besides those of dialect and upstream (`headers`). `translations`
    are those of the route, None if no target needs one; `priority` and `hedge` are the route's.
    With `debug` the response names its target. Raises GatewayError 429, 502, 503 or 504 if no
    target responds, AbortConnection if the caller disconnects.
    """

    def __init__(
        self,
        expression: Expression | None,
        *,
        fixed: TargetGroup | RegionalGroup,
        dialect: Dialect,
        headers: RouteHeaders,
        services: Services,
        watcher: DisconnectWatcher,
        translations: RouteTranslations | None = None,
        declared: Sequence[str] = (),
        declared_responses: Sequence[str] = (),
        priority: str = "",
        hedge: Hedge | None = None,
        debug: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        model_header = (
            expression.steps if expression is not None and expression.location == "header" else ()
        )
        self._headers = headers.requests(dialect, (*model_header, *declared))
        self._response_headers = headers.responses(dialect, tuple(declared_responses))
        self._expression = expression
        self._fixed = fixed
        self._translations = translations
        self._dialect = dialect
        self._services = services
        self._watcher = watcher
        self._rank = rank_of(priority)
        self._hedging = None if hedge is None else Hedging(hedge.after, self)
        self._debug = debug
        self._clock = clock

    def session_edits(self, exchange: Exchange) -> MessageEdits | None:
        """The edits of the messages of a session that has begun; None where they have none."""
        return None

    def __call__(self, exchange: Exchange) -> Response:
        selected: Sequence[Any] = exchange.model.targets  # Target, by `select_model`
        targets: Sequence[Target] = selected or self._fixed.order(exchange)
        requests = None if self._translations is None else self._translations.requests(exchange)
        carries = None if requests is None else requests.carries
        candidates = Candidates(
            targets, self._clock, self._services.dice, carries, partial(self._slots, exchange)
        )
        record = exchange.record
        result = None
        with self._watcher.watch(exchange.connection):
            while (candidate := candidates.next()) is not None:
                waits = candidate.wait or candidate.target.gates
                if waits and not self.may_begin(candidate, candidates, exchange):
                    continue
                if result is not None:
                    result.close()
                if self._hedging is None:
                    result = self.attempt(candidate, candidates.deadline, exchange, requests)
                    record.wait_time += result.attempt.seconds
                    record.add(result.attempt)
                else:
                    candidate, result = self._hedging.attempt(
                        candidate, candidates, exchange, requests
                    )
                if not result.failure:
                    result.succeeded()
                    break
                if not self.may_retry(result, candidate, candidates, exchange):
                    break
            if result is None:
                refusal = None if requests is None else requests.refusal(targets)
                raise refusal or candidates.unavailable()
            return self._respond(result, exchange, candidates.deadline)

    def may_begin(self, candidate: Candidate, candidates: Candidates, exchange: Exchange) -> bool:
        """Wait for the backoff of a candidate, then for its slots. Returns whether it has them."""
        if candidate.wait:
            gevent.sleep(candidate.wait)
            exchange.record.wait_time += candidate.wait
        if not candidate.target.gates:
            return True
        slots = candidates.hold_slots(candidate)
        if slots is not None:
            exchange.on_end.append(slots.release)
        return slots is not None

    def _slots(self, exchange: Exchange, deadline: float) -> RequestSlots:
        """The slots of a request, by the priority of its caller or else of the route."""
        caller, rank = exchange.caller, self._rank
        if caller is not None and caller.priority:
            rank = rank_of(caller.priority)
        return RequestSlots(rank, exchange.record, deadline, self._clock)

    def attempt(
        self,
        candidate: Candidate,
        deadline: float,
        exchange: Exchange,
        requests: TranslatedRequests | None,
    ) -> AttemptResult:
        """Attempt a target, which the record of the request names from now on."""
        target, record = candidate.target, exchange.record
        model = exchange.model.name
        record.attempt_count += 1
        set_target(record, target, model)
        start = time.monotonic()
        translated = None if requests is None else requests.translated(target)
        if translated is not None:
            request = translated_request(target, exchange, translated)
        else:
            headers = self._headers[target.upstream.name]
            translations = self._translations
            edits = () if translations is None else translations.relay_edits(exchange)
            request = build_request(target, exchange, headers, self._expression, edits)
        if target.edits.edits_bodies:
            request.headers = [pair for pair in request.headers if pair[0] not in RANGES]
        if target.edits.transforms:
            edit_request(target, request, exchange)
        timeout = deadline - self._clock()
        result = attempt(
            target, candidate.credential, request, exchange, self._dialect, timeout, translated
        )
        exchange.on_end.append(result.close)
        record.reached_upstream |= result.reached
        result.attempt = Attempt(
            target.name,
            target.upstream.name,
            target.model or model,
            result.failure,
            result.status,
            start,
            time.monotonic() - start,
            "" if translated is None else translated.translation.target.name,
        )
        return result

    def discard(self, result: AttemptResult, exchange: Exchange) -> None:
        """Count the usage of a response that is not relayed."""
        if result.content is not None:
            note_unused(result, exchange, self._dialect, result.content.first)

    def may_retry(
        self,
        result: AttemptResult,
        candidate: Candidate,
        candidates: Candidates,
        exchange: Exchange,
    ) -> bool:
        """Log the failure of an attempt and apply it to its target. Returns whether a retry may
        follow."""
        target = candidate.target
        reason = result.error.message if result.error else f"status {result.status}"
        failure = f"{target.name} failed ({result.failure}): {reason}"
        log.warning("request %s: %s", exchange.request_id, failure)
        retry_after = self._retry_after(result)
        candidates.failed(
            target,
            candidate.credential,
            result.failure,
            retry_after,
            is_unusable=result.is_unusable,
        )
        return retry.may_retry(result.failure, target.upstream.retry.on) and not (
            exchange.body.is_spent
        )

    def _retry_after(self, result: AttemptResult) -> float | None:
        """The seconds that the upstream asks to wait, or None."""
        if result.response is None:
            return None
        header = result.response.header
        return retry.retry_delay(
            header("retry-after-ms"), header("retry-after"), self._services.clock()
        )

    def _respond(self, last: AttemptResult, exchange: Exchange, deadline: float) -> Response:
        """The response for the caller after the last attempt. After retries that an upstream got,
        or that took all of the time, the caller's SDK need not retry."""
        headers = self._headers_for_caller(last, exchange)
        if last.content is None and (self._retry_after(last) or 0.0) > MAX_RETRY_WAIT:
            headers = without_retry(headers)
        if last.failure:
            record = exchange.record
            is_spent = record.reached_upstream or self._clock() >= deadline
            retried = (record.attempt_count > 1 and is_spent) or last.is_unusable
            return refuse(last, headers, exchange, self._dialect, retried)
        response = relay(last, headers, exchange, self._dialect, self._watcher)
        if self._debug:
            response.headers.append(("x-modelway-target", quote(last.target.name, safe=_SAFE)))
        return response

    def _headers_for_caller(self, result: AttemptResult, exchange: Exchange) -> Headers:
        """The headers of an upstream's response that pass to the caller, without our credentials,
        and x-modelway-dropped, the fields that the translation of the request dropped."""
        if result.response is None:
            return []
        upstream = result.target.upstream
        rules = self._response_headers[upstream.name]
        headers = rules.pick(result.response.headers, result.path, exchange.mount)
        headers = upstream.redaction.filter_headers(headers)
        if result.dropped:
            headers = [*headers, ("x-modelway-dropped", ", ".join(result.dropped))]
        return headers

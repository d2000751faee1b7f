"""Chooses among the operations of a document for one method and path, its alternatives: a request
belongs to the first that accepts it.

What the head decides comes before the body: the token, the parameters, the Content-Type. If one
alternative is left, its own stages do the rest. Otherwise the body is received once, and each of
them judges it once, by the document: also one whose route refuses nothing (`validate: off` or
`report`), which serves what no alternative accepts. Without such a route, the refusal is that of
the nearest alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from engine.edge.resource import Candidate
from engine.exchange.body import Body, too_large
from engine.exchange.environ_headers import wants_websocket
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.spec.media_types import is_json
from engine.spec.operation import Operation, accepts_parameters, check_parameters
from engine.spec.refusal_messages import explain_distance
from engine.spec.schema_validator import SchemaValidator
from engine.spec.security import Carrier
from engine.stages.authenticate import carried
from engine.stages.validate import (
    drop_unknown,
    refuse_read_only,
    reject_unknown,
    strip_read_only,
)
from engine.values.errors import GatewayError, Malformed
from engine.values.json_edit import Ambiguous, refuse_repeated_names

MOST_JUDGED = 16
"""Alternatives that judge one body: the first of those that the head leaves."""

_BY_DOCUMENT = (400, 415)
"""The statuses of refusals by a document."""

_TOKEN, _PARAMETERS, _MEDIA_TYPE, _PARSER, _SCHEMA, _NAMES = range(6)
"""The parts of a request that an alternative judges, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """An operation that shares its method and path with others.

    `operation` is compiled as its route validates, strictly if that refuses nothing, which
    `is_tolerant` says. `unknown` is what happens to members that the document does not have,
    `readonly` to those that it marks as read-only.
    `authenticate` raises GatewayError for a request without a valid token in one of the `carriers`.
    `handler` has all stages of the route, `judged` those of a request that this module has judged,
    and what `refusal` makes those before the validation, which count refused requests too, and then
    raises an error.
    """

    operation: Operation
    unknown: str
    readonly: str
    is_tolerant: bool
    carriers: Sequence[Carrier]
    authenticate: Stage
    handler: Handler
    judged: Handler
    refusal: Callable[[GatewayError], Handler]


class _Refusal(NamedTuple):
    """The refusal of a candidate. The greatest is the nearest: the one of the last part of the
    request, there with the fewest errors, then with the deepest, of the first candidate."""

    part: int
    fewer: int
    depth: int
    first: int
    alternative: Alternative
    error: GatewayError


_Explain = Callable[[], _Refusal]
"""Explains a refusal. That may cost much more than finding it, and only the nearest is needed."""


class _Entry(NamedTuple):
    """The result of a stage that authenticates: its error, or the request without its tokens."""

    error: GatewayError | None
    environ: Mapping[str, Any] = {}
    query: str = ""


class _Trial:
    """A candidate and a copy of the exchange as it reads it. `is_stranger`: the request has no
    valid token for it."""

    def __init__(
        self, alternative: Alternative, candidate: Candidate, number: int, exchange: Exchange
    ) -> None:
        self.alternative, self._number = alternative, number
        self.is_stranger = False
        self.exchange = trial = copy(exchange)
        trial.operation = self.alternative.operation.id
        trial.mount, trial.variables = candidate.resource.mount, candidate.variables

    def judge_head(self, entries: dict[Stage, _Entry]) -> _Explain | None:
        """The refusal of the head, None if it is accepted. `entries` remembers the results of
        stages that authenticate."""
        stage, trial = self.alternative.authenticate, self.exchange
        if stage not in entries:
            entries[stage] = _authenticated(stage, trial)
        entry = entries[stage]
        if entry.error is not None:
            self.is_stranger = True
            held = any(carried(trial, carrier) for carrier in self.alternative.carriers)
            return self._refused(_TOKEN, entry.error, depth=int(held))
        trial.environ, trial.query = entry.environ, entry.query
        try:
            if not accepts_parameters(self.alternative.operation.parameters, trial):
                return self._explain_parameters
        except GatewayError as error:
            return self._refused(_PARAMETERS, error)
        return self._judge_media_type()

    def _judge_media_type(self) -> _Explain | None:
        bodies, environ = self.alternative.operation.bodies, self.exchange.environ
        has_body = (environ.get("CONTENT_LENGTH") or "0") != "0"
        try:
            if has_body or "HTTP_TRANSFER_ENCODING" in environ:
                bodies.rule(self.exchange)
            else:
                bodies.parse(self.exchange)
        except GatewayError as error:
            return self._refused(_MEDIA_TYPE, error)
        return None

    def judge_body(self, body: Body) -> _Explain | None:
        """The refusal of the body, None if it is accepted."""
        trial, alternative = self.exchange, self.alternative
        trial.body = body
        part = _PARSER
        try:
            rule = alternative.operation.bodies.parse(trial)
            if rule is None or trial.value is MISSING:
                return None
            part = _SCHEMA
            if alternative.unknown == "drop":
                drop_unknown(trial, rule, None)
            if alternative.readonly == "strip":
                strip_read_only(trial, rule, None)
            if rule.validator is not None and not rule.validator.is_valid(trial.value):
                return partial(self._explain_body, rule.validator)
            part = _NAMES
            if alternative.readonly == "refuse":
                refuse_read_only(trial, rule)
            if alternative.unknown == "reject":
                reject_unknown(trial, rule)
        except GatewayError as error:
            return self._refused(part, error)
        return None

    def ambiguity(self) -> GatewayError | None:
        """The refusal of a JSON body of which two parsers may read different values."""
        if not is_json(self.exchange.media_type):
            return None
        try:
            refuse_repeated_names(bytes(self.exchange.body.buffer))
        except Ambiguous as error:
            message = f"The request body {error}: they decide which operation it is for."
            return GatewayError(400, "invalid_value", message)
        return None

    def _refused(self, part: int, error: GatewayError, depth: int = 0) -> _Explain:
        return lambda: self._refusal(part, error, depth=depth)

    def _refusal(self, part: int, error: GatewayError, count: int = 1, depth: int = 0) -> _Refusal:
        return _Refusal(part, -count, depth, -self._number, self.alternative, error)

    def _explain_parameters(self) -> _Refusal:
        try:
            check_parameters(self.alternative.operation.parameters, self.exchange)
        except GatewayError as error:
            return self._refusal(_PARAMETERS, error)
        except Malformed as error:
            return self._refusal(_PARAMETERS, GatewayError(400, "invalid_value", str(error)))
        raise AssertionError("the parameters were refused")

    def _explain_body(self, validator: SchemaValidator) -> _Refusal:
        refusal, count, depth = explain_distance(validator, self.exchange.value)
        return self._refusal(_SCHEMA, refusal.error(), count, depth)

    @property
    def is_tolerant(self) -> bool:
        """Whether the route serves what its document refuses, and knows the caller."""
        return self.alternative.is_tolerant and not self.is_stranger

    def become(self, exchange: Exchange) -> None:
        """Make this the operation of the exchange."""
        trial = self.exchange
        exchange.operation, exchange.mount = trial.operation, trial.mount
        exchange.variables = trial.variables

    def become_judged(self, exchange: Exchange, received: Body) -> None:
        """Make this the operation of the exchange, with the body received, as it was read."""
        self.become(exchange)
        trial = self.exchange
        exchange.value, exchange.parts = trial.value, trial.parts
        exchange.media_type = trial.media_type
        exchange.receive = partial(_again, received, trial.body)


def refusing(error: GatewayError) -> Stage:
    """A stage that refuses every request."""

    def refuse(exchange: Exchange, following: Handler) -> Response:
        raise error

    return refuse


class Choice:
    """Chooses for one request: `stage` finds the alternative and `handler`, behind it, serves it.
    `alternative_of` returns the alternative with the id of an operation.

    The stage raises GatewayError, the refusal of the nearest candidate, if none accepts the
    request.
    """

    def __init__(
        self, candidates: Sequence[Candidate], alternative_of: Callable[[str], Alternative]
    ) -> None:
        self._alternatives = [(alternative_of(c.resource.operation), c) for c in candidates]
        self._chosen: Handler | None = None

    def handler(self, exchange: Exchange) -> Response:
        assert self._chosen is not None
        return self._chosen(exchange)

    def stage(self, exchange: Exchange, following: Handler) -> Response:
        trials = [_Trial(*pair, n, exchange) for n, pair in enumerate(self._in_order(exchange))]
        entries: dict[Stage, _Entry] = {}
        refusals: list[_Explain] = []
        left = [*_accepting(trials, lambda trial: trial.judge_head(entries), refusals)]
        tolerant = next((t for t in trials if t.is_tolerant), None)
        if len(left) == 1 and tolerant in (None, left[0]):
            return self._serve_unjudged(left[0], exchange, following)
        if left:
            body, judged = _received(exchange), left[:MOST_JUDGED]
            accepting = _accepting(judged, lambda trial: trial.judge_body(body), refusals)
            if (trial := next(accepting, None)) is not None:
                return self._serve_judged(trial, exchange, following, body, len(judged) > 1)
        if tolerant is not None:
            return self._serve_unjudged(tolerant, exchange, following)
        nearest = max((explain_() for explain_ in refusals), key=lambda refusal: refusal[:4])
        exchange.operation = nearest.alternative.operation.id
        if nearest.part == _TOKEN:
            raise nearest.error
        error = self._naming(exchange.operation, nearest.error)
        self._chosen = nearest.alternative.refusal(error)
        return following(exchange)

    def _in_order(self, exchange: Exchange) -> list[tuple[Alternative, Candidate]]:
        """The alternatives; the WebSockets first if the request is one, else last."""
        wanted = wants_websocket(exchange.environ)
        return sorted(
            self._alternatives, key=lambda pair: pair[0].operation.websocket is not wanted
        )

    def _serve_judged(
        self, trial: _Trial, exchange: Exchange, following: Handler, body: Body, by_body: bool
    ) -> Response:
        """Serve a request that an alternative has accepted. `by_body`: others might have, because
        of what the body says, which must then say the same to every parser."""
        error = trial.ambiguity() if by_body and not trial.is_tolerant else None
        trial.become_judged(exchange, body)
        alternative = trial.alternative
        self._chosen = alternative.refusal(error) if error is not None else alternative.judged
        return following(exchange)

    def _serve_unjudged(self, trial: _Trial, exchange: Exchange, following: Handler) -> Response:
        """Serve the request by all stages of a route: those that judge it have not run."""
        trial.become(exchange)
        self._chosen = trial.alternative.handler
        try:
            return following(exchange)
        except GatewayError as error:
            raise self._naming(exchange.operation, error) from error

    def _naming(self, operation: str, error: GatewayError) -> GatewayError:
        """The error, which says of which operation it is if that is not known from the path."""
        if error.status in _BY_DOCUMENT:
            count = len(self._alternatives)
            error.message = error.message.rstrip(".")
            error.message += f". Of the {count} operations here, '{operation}' is the nearest."
        return error


def _accepting(
    trials: Sequence[_Trial],
    judge: Callable[[_Trial], _Explain | None],
    refusals: list[_Explain],
) -> Iterator[_Trial]:
    """The trials that accept a part of the request; the refusals of the others are added."""
    for trial in trials:
        refusal = judge(trial)
        if refusal is None:
            yield trial
        else:
            refusals.append(refusal)


def _received(exchange: Exchange) -> Body:
    """The body, which later stages receive once more."""
    body = exchange.receive(exchange.max_body)
    if body.in_memory is None:
        exchange.on_end.append(body.close)
    exchange.body = body  # its size is logged
    exchange.receive = partial(_again, body, body)
    return body


def _again(received: Body, body: Body, limit: int) -> Body:
    """The body that a request was read as. Raises GatewayError 413 for one received that is larger
    than the limit of the operation."""
    if received.size > limit:
        raise too_large(limit)
    return body


def _authenticated(stage: Stage, exchange: Exchange) -> _Entry:
    """The result of a stage that authenticates a request; the exchange stays as it is."""
    visitor = copy(exchange)
    try:
        stage(visitor, lambda _: Response(200, []))
    except GatewayError as error:
        return _Entry(error)
    return _Entry(None, visitor.environ, visitor.query)

"""An alternative, an operation that shares its method and path with others, and its trial: how it
judges one request, without serving it. `alternatives.py` chooses by the trials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from engine.edge.path_operations import Candidate
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.request_body import Body, ReceivedBody
from engine.spec.operation import Operation
from engine.spec.parameter import accepts_parameters, check_parameters
from engine.spec.schemas.refusal_messages import explain_distance
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.spec.security import Carrier
from engine.stages.token_carriers import secret_in
from engine.stages.validate import (
    drop_unknown,
    refuse_read_only,
    reject_unknown,
    strip_read_only,
)
from engine.values.errors import GatewayError, Malformed
from engine.values.json_spans import Ambiguous, refuse_repeated_names
from engine.values.media_types import is_json

TOKEN, PARAMETERS, MEDIA_TYPE, PARSER, SCHEMA, NAMES = range(6)
"""The parts of a request that an alternative judges, in this order."""


class Alternative(Struct, frozen=True, eq=False):
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


class Refusal(NamedTuple):
    """The refusal of a candidate. The greatest is the nearest: the one of the last part of the
    request, there with the fewest errors, then with the deepest, of the first candidate."""

    part: int
    fewer: int
    depth: int
    first: int
    alternative: Alternative
    error: GatewayError


Explain = Callable[[], Refusal]
"""Explains a refusal. That may cost much more than finding it, and only the nearest is needed."""


class Entry(NamedTuple):
    """The result of a stage that authenticates: its error, or the request without its tokens."""

    error: GatewayError | None
    environ: Mapping[str, Any] = {}
    query: str = ""


class Trial:
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

    def judge_head(self, entries: dict[Stage, Entry]) -> Explain | None:
        """The refusal of the head, None if it is accepted. `entries` remembers the results of
        stages that authenticate."""
        stage, trial = self.alternative.authenticate, self.exchange
        if stage not in entries:
            entries[stage] = _entry(stage, trial)
        entry = entries[stage]
        if entry.error is not None:
            self.is_stranger = True
            has_secret = any(secret_in(trial, carrier) for carrier in self.alternative.carriers)
            return self._refused(TOKEN, entry.error, depth=int(has_secret))
        trial.environ, trial.query = entry.environ, entry.query
        try:
            if not accepts_parameters(self.alternative.operation.parameters, trial):
                return self._explain_parameters
        except GatewayError as error:
            return self._refused(PARAMETERS, error)
        return self._judge_media_type()

    def _judge_media_type(self) -> Explain | None:
        bodies, environ = self.alternative.operation.bodies, self.exchange.environ
        has_body = (environ.get("CONTENT_LENGTH") or "0") != "0"
        try:
            if has_body or "HTTP_TRANSFER_ENCODING" in environ:
                bodies.rule(self.exchange)
            else:
                bodies.parse(self.exchange)
        except GatewayError as error:
            return self._refused(MEDIA_TYPE, error)
        return None

    def judge_body(self, body: Body) -> Explain | None:
        """The refusal of the body, None if it is accepted."""
        trial, alternative = self.exchange, self.alternative
        trial.body = body
        part = PARSER
        try:
            rule = alternative.operation.bodies.parse(trial)
            if rule is None or trial.content.value is MISSING:
                return None
            part = SCHEMA
            if alternative.unknown == "drop":
                drop_unknown(trial, rule, None)
            if alternative.readonly == "strip":
                strip_read_only(trial, rule, None)
            if rule.validator is not None and not rule.validator.is_valid(trial.content.value):
                return partial(self._explain_body, rule.validator)
            part = NAMES
            if alternative.readonly == "refuse":
                refuse_read_only(trial, rule)
            if alternative.unknown == "reject":
                reject_unknown(trial, rule)
        except GatewayError as error:
            return self._refused(part, error)
        return None

    def ambiguity(self) -> GatewayError | None:
        """The refusal of a JSON body of which two parsers may read different values."""
        if not is_json(self.exchange.content.media_type):
            return None
        try:
            refuse_repeated_names(bytes(self.exchange.body.buffer))
        except Ambiguous as error:
            message = f"The request body {error}: they decide which operation it is for."
            return GatewayError(400, "invalid_value", message)
        return None

    def _refused(self, part: int, error: GatewayError, depth: int = 0) -> Explain:
        return lambda: self._refusal(part, error, depth=depth)

    def _refusal(self, part: int, error: GatewayError, count: int = 1, depth: int = 0) -> Refusal:
        return Refusal(part, -count, depth, -self._number, self.alternative, error)

    def _explain_parameters(self) -> Refusal:
        try:
            check_parameters(self.alternative.operation.parameters, self.exchange)
        except GatewayError as error:
            return self._refusal(PARAMETERS, error)
        except Malformed as error:
            return self._refusal(PARAMETERS, GatewayError(400, "invalid_value", str(error)))
        raise AssertionError("the parameters were refused")

    def _explain_body(self, validator: SchemaValidator) -> Refusal:
        refusal, count, depth = explain_distance(validator, self.exchange.content.value)
        return self._refusal(SCHEMA, refusal.error(), count, depth)

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
        exchange.content = trial.content
        exchange.body_reader = ReceivedBody(
            trial.body, exchange.body_reader.max_size, received.size
        )


def _entry(stage: Stage, exchange: Exchange) -> Entry:
    """The result of a stage that authenticates a request; the exchange stays as it is."""
    visitor = copy(exchange)
    try:
        stage(visitor, lambda _: Response(200, []))
    except GatewayError as error:
        return Entry(error)
    return Entry(None, visitor.environ, visitor.query)

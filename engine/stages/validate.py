"""Validating the request against the document: its parameters before the body is received, the
body after the model was selected, because a schema takes most of the time of a large request.

Modes: `strict` refuses; `lenient` refuses what does not match the operation's more open schemas;
`report` counts and logs what strict would refuse; `off` checks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import thread_time
from typing import NamedTuple

from engine.exchange.caller_connection import MIN_COSTLY
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.request_body import Body
from engine.process.loop_turn import FEW_BYTES, await_turn
from engine.process.preemption import PREEMPTION
from engine.spec.bodies.request_bodies import Bodies, BodyRule, check
from engine.spec.model_locations import ModelLocations
from engine.spec.operation import Operation
from engine.spec.parameter import Parameter, check_parameters
from engine.spec.schemas.member_finder import Path
from engine.spec.schemas.refusal_messages import Refusal, explain, find_refusal, place
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.stages.report import mismatches
from engine.values.errors import GatewayError
from engine.values.json_edit import without_members
from engine.values.trees import value_at

Refuse = Callable[[Exchange, GatewayError], None]


class Checks(NamedTuple):
    """The checks of a route's requests; routes with equal checks may share a stage.

    `bodies` is None if bodies are not parsed. `unknown` is what happens to members of a JSON body
    that the document does not have: pass, reject or drop. Mode `report` rejects them too.
    `readonly` is what happens to read-only members: accept, strip or refuse. `locations` name the
    model in requests of which members are removed.
    """

    parameters: tuple[Parameter, ...]
    bodies: Bodies | None
    mode: str
    unknown: str
    locations: ModelLocations | None = None
    readonly: str = "accept"

    @property
    def validates(self) -> bool:
        return self.mode != "off"

    @property
    def edits(self) -> bool:
        """Whether members of bodies are removed, or refused for what they are."""
        return self.unknown != "pass" or self.readonly != "accept"


UNCHECKED = Checks((), None, "off", "pass")
"""The checks of requests that were checked before."""


def checks_of(
    operation: Operation,
    mode: str,
    needs_body: bool = False,
    unknown: str = "pass",
    locations: ModelLocations | None = None,
    readonly: str = "accept",
) -> Checks:
    """The checks of an operation. With mode `off` nothing is checked; the body is parsed only if a
    later step needs it (`needs_body`)."""
    validates = mode != "off"
    parses = validates or needs_body or unknown != "pass" or readonly != "accept"
    return Checks(
        operation.parameters if validates else (),
        operation.bodies if parses else None,
        mode,
        unknown,
        locations if unknown == "drop" or readonly == "strip" else None,
        readonly,
    )


def validate_parameters(checks: Checks) -> list[Stage]:
    """A stage that checks the parameters, if there are any. Raises GatewayError 400."""
    parameters, refuse = checks.parameters, refusal_of(checks.mode)
    if not parameters:
        return []

    def stage(exchange: Exchange, following: Handler) -> Response:
        try:
            check_parameters(parameters, exchange)
        except GatewayError as error:
            refuse(exchange, error)
        return following(exchange)

    return [stage]


def validate_body(checks: Checks) -> list[Stage]:
    """A stage that checks the parsed body, if there may be one; a refusal names the place in it.
    Raises GatewayError 400."""
    _, bodies, mode, unknown, locations, readonly = checks
    validates, refuse = checks.validates, refusal_of(mode)
    edits = checks.edits
    if bodies is None or not bodies.media_types or not (validates or edits):
        return []
    rules = bodies.rules

    def validate_only(exchange: Exchange, following: Handler) -> Response:
        media_type, value, _ = exchange.content
        if value is not MISSING:
            rule = rules.get(media_type) or bodies.rule(exchange)
            if exchange.body.size > MIN_COSTLY:
                _check_measured(exchange, rule)
            else:
                check(rule, value)
        return following(exchange)

    def stage(exchange: Exchange, following: Handler) -> Response:
        if exchange.content.value is not MISSING:
            rule = rules.get(exchange.content.media_type) or bodies.rule(exchange)
            if unknown == "drop":
                drop_unknown(exchange, rule, locations)
            if readonly == "strip":
                strip_read_only(exchange, rule, locations)
            if readonly == "refuse":
                refuse_read_only(exchange, rule, refuse)
            if validates:
                try:
                    _check_measured(exchange, rule)
                except GatewayError as error:
                    refuse(exchange, error)
            if unknown == "reject":
                reject_unknown(exchange, rule)
        return following(exchange)

    return [validate_only if mode in ("strict", "lenient") and not edits else stage]


def _check_measured(exchange: Exchange, rule: BodyRule) -> None:
    """Check a body, and note what that cost if it is not small, and its schema is not compiled
    first: bodies of the operation may be large before others are. Raises GatewayError 400."""
    validator, value = rule.validator, exchange.content.value
    if validator is None:
        return
    is_lesson = exchange.body.size > MIN_COSTLY and validator.is_compiled
    if validator.may_take_long(value):
        refusal = find_refusal(validator, value)
        if refusal is not None:
            raise refusal.error()
        return  # no lesson: nothing waited for it
    heavy = exchange.connection.heavy_calls if is_lesson else None
    begin = thread_time()
    try:
        is_valid = validator.is_valid_here(value)
    finally:  # to count that a body is too expensive costs as well
        if heavy is not None:
            heavy.note_cost(exchange.operation, exchange.body.size, thread_time() - begin)
    if not is_valid:
        raise _explain(exchange, validator, value).error()


def _explain(exchange: Exchange, validator: SchemaValidator, value: object) -> Refusal:
    """The refusal of a body. To find it may take several times as long as the check: others have
    turns meanwhile. It is no lesson, else one caller's mistakes would make bodies of others large.
    """
    if exchange.body.size <= FEW_BYTES:
        return explain(validator, value)
    await_turn()
    try:
        PREEMPTION.begin()
        return explain(validator, value)
    finally:
        PREEMPTION.end()


def refusal_of(mode: str) -> Refuse:
    """What happens to a request that breaks the document: it is refused, or only reported."""
    return _note_refusal if mode == "report" else _raise


def _raise(exchange: Exchange, error: GatewayError) -> None:
    raise error


def _note_refusal(exchange: Exchange, error: GatewayError) -> None:
    """Only report what the other modes refuse."""
    mismatches.note_error(exchange.request_id, exchange.operation, error)


def reject_unknown(exchange: Exchange, rule: BodyRule) -> None:
    """Raises GatewayError 400 for the first member that the document does not have."""
    if rule.names is None:
        return
    for path in rule.names.paths(exchange.content.value):
        name = place(path)
        message = f"Unknown parameter: '{name}'."
        raise GatewayError(400, "unknown_parameter", message, param=name)


def drop_unknown(exchange: Exchange, rule: BodyRule, locations: ModelLocations | None) -> None:
    """Remove the members that the document does not have."""
    if rule.names is not None:
        _remove(exchange, rule.names.paths(exchange.content.value), locations)


def strip_read_only(exchange: Exchange, rule: BodyRule, locations: ModelLocations | None) -> None:
    """Remove the read-only members."""
    if rule.read_only is not None:
        _remove(exchange, rule.read_only.paths(exchange.content.value), locations)


def refuse_read_only(exchange: Exchange, rule: BodyRule, refuse: Refuse = _raise) -> None:
    """Refuse the first read-only member, by default with GatewayError 400."""
    if rule.read_only is None:
        return
    for path in rule.read_only.paths(exchange.content.value):
        name = place(path)
        message = f"Invalid value for '{name}': it is read-only and must not be sent."
        refuse(exchange, GatewayError(400, "invalid_value", message, param=name))
        return


def _remove(exchange: Exchange, members: Iterable[Path], locations: ModelLocations | None) -> None:
    """Remove members, by their paths, from the body and its value. The model then stands elsewhere
    in it."""
    paths = list(members)
    if not paths:
        return
    body = Body(without_members(exchange.body.buffer, paths))
    for path in paths:
        del value_at(exchange.content.value, path[:-1])[path[-1]]
    exchange.body = body
    if locations is not None:
        locations.find(exchange)

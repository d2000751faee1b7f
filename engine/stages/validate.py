"""Validating the request against the document: its parameters, its media type, its body.

Modes: `strict` refuses; `lenient` refuses what does not match the operation's more open schemas;
`report` counts and logs what strict would refuse; `off` checks nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.spec.operation import Operation, Parameter, check_parameters
from engine.spec.refusal_messages import place
from engine.spec.request_bodies import Bodies, BodyRule, check
from engine.stages.report import mismatches
from engine.values.errors import GatewayError
from engine.values.json_edit import without_members


class Checks(NamedTuple):
    """The checks of a route's requests; routes with equal checks may share a stage.

    `bodies` is None if bodies are not parsed. `unknown` is what happens to members of a JSON body
    that the document does not have: pass, reject or drop. Mode `report` rejects them too.
    """

    parameters: tuple[Parameter, ...]
    bodies: Bodies | None
    mode: str
    unknown: str


def checks_of(
    operation: Operation, mode: str, needs_body: bool = False, unknown: str = "pass"
) -> Checks:
    """The checks of an operation. With mode `off` nothing is checked; the body is parsed only if a
    later step needs it (`needs_body`)."""
    validates = mode != "off"
    parses = validates or needs_body or unknown != "pass"
    parameters = operation.parameters if validates else ()
    return Checks(parameters, operation.bodies if parses else None, mode, unknown)


def validate(checks: Checks) -> Stage:
    """A stage that reads, parses and checks the request; a refusal names the place in it.

    Raises GatewayError 400, 408, 413 or 415.
    """
    parameters, bodies, mode, unknown = checks
    validates = mode != "off"
    refuse = _note_refusal if mode == "report" else _raise

    def stage(exchange: Exchange, following: Handler) -> Response:
        try:
            if parameters:
                check_parameters(parameters, exchange)
        except GatewayError as error:
            refuse(exchange, error)
        body = exchange.body = exchange.receive(exchange.max_body)
        if body.in_memory is None:
            exchange.on_end.append(body.close)
        rule = None
        try:
            rule = bodies.parse(exchange, validates) if bodies is not None else None
            if rule is not None and unknown == "drop":
                _drop(exchange, rule)
            if rule is not None and validates:
                check(rule, exchange.value)
        except GatewayError as error:
            refuse(exchange, error)
        if rule is not None and unknown == "reject":
            _reject(exchange, rule)
        return following(exchange)

    return stage


def _raise(exchange: Exchange, error: GatewayError) -> None:
    raise error


def _note_refusal(exchange: Exchange, error: GatewayError) -> None:
    """Only report what the other modes refuse."""
    mismatches.note_error(exchange.request_id, exchange.operation, error)


def _reject(exchange: Exchange, rule: BodyRule) -> None:
    """Raises GatewayError 400 for the first member that the document does not have."""
    if rule.names is None or exchange.value is MISSING:
        return
    for path in rule.names.unknown(exchange.value):
        name = place(path)
        message = f"Unknown parameter: '{name}'."
        raise GatewayError(400, "unknown_parameter", message, param=name)


def _drop(exchange: Exchange, rule: BodyRule) -> None:
    """Remove the members that the document does not have from the body and its value."""
    if rule.names is None or exchange.value is MISSING:
        return
    paths = list(rule.names.unknown(exchange.value))
    if not paths:
        return
    body = Body(without_members(exchange.body.buffer, paths))
    for path in paths:
        holder: Any = exchange.value
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
    exchange.body = body

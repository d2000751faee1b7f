"""Validating the request against the document: its parameters, its media type, its body.

Modes: `strict` refuses; `lenient` refuses what does not match the operation's more open schemas;
`report` counts and logs what strict would refuse; `off` checks nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.spec.operation import Operation
from engine.spec.refusal_messages import place
from engine.spec.request_bodies import BodyRule, check
from engine.stages.report import mismatches
from engine.values.errors import GatewayError
from engine.values.json_edit import without_members


def validate(
    operation: Operation, mode: str, needs_body: bool = False, unknown: str = "pass"
) -> Stage:
    """A stage that reads, parses and checks the request; a refusal names the place in it.

    Raises GatewayError 400, 408, 413 or 415. With mode `off` nothing is checked; the body is
    parsed only if a later step needs it (`needs_body`). `unknown` is what happens to members of a
    JSON body that the document does not have: pass, reject or drop. Mode `report` rejects them too.
    """
    bodies = operation.bodies
    validates = mode != "off"
    checks = operation.parameters if validates else ()
    parse = validates or needs_body or unknown != "pass"
    refuse = _note_refusal(operation.id) if mode == "report" else _raise

    def stage(exchange: Exchange, following: Handler) -> Response:
        try:
            if checks:
                operation.check_parameters(exchange)
        except GatewayError as error:
            refuse(exchange, error)
        body = exchange.body = exchange.receive(exchange.max_body)
        if body.in_memory is None:
            exchange.on_end.append(body.close)
        rule = None
        try:
            rule = bodies.parse(exchange, validates) if parse else None
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


def _note_refusal(operation_id: str) -> Callable[[Exchange, GatewayError], None]:
    """A function that only reports what the other modes refuse."""

    def note(exchange: Exchange, error: GatewayError) -> None:
        mismatches.note_error(exchange.request_id, operation_id, error)

    return note


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

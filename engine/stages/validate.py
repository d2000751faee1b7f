"""Whether the request is what the document says: its parameters, its media type, its body.

Modes: `strict` refuses; `lenient` is strict about a more open reading, which the operation brings;
`report` counts and logs what strict would refuse; `off` does not look.
"""

from __future__ import annotations

from typing import Any

from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.spec.operation import Operation
from engine.spec.refusal_messages import place
from engine.spec.request_bodies import Rule, check
from engine.stages.would_reject import note_error
from engine.values.errors import GatewayError
from engine.values.json_edit import without_members


def validate(
    operation: Operation, mode: str, names_model: bool = False, unknown: str = "pass"
) -> Stage:
    """A stage that reads and parses the body, and refuses with the place in the request.

    Raises GatewayError 400, 408, 413 or 415. With mode `off` nothing is checked; the body is
    parsed only where the model is named in it (`names_model`). `unknown` says what becomes of
    members of a JSON body that the document does not name: pass, reject or drop.
    """
    if mode == "report":
        return _reporting(operation, unknown)
    bodies = operation.bodies
    judge = mode != "off"
    checks = operation.parameters if judge else ()
    parse = judge or names_model or unknown != "pass"

    def stage(exchange: Exchange, following: Handler) -> Response:
        if checks:
            operation.check_parameters(exchange)
        exchange.body = exchange.receive(exchange.max_body)
        exchange.on_end.append(exchange.body.close)
        rule = bodies.parse(exchange, judge) if parse else None
        if rule is not None:
            if unknown == "drop":
                _drop(exchange, rule)
            if judge:
                check(rule, exchange.value)
            if unknown == "reject":
                _reject(exchange, rule)
        return following(exchange)

    return stage


def _reporting(operation: Operation, unknown: str) -> Stage:
    """A stage that looks as a strict one does, and refuses nothing but unknown members."""
    bodies = operation.bodies

    def reporting(exchange: Exchange, following: Handler) -> Response:
        def note(error: GatewayError) -> None:
            note_error(exchange.request_id, operation.id, error)

        try:
            operation.check_parameters(exchange)
        except GatewayError as error:
            note(error)
        exchange.body = exchange.receive(exchange.max_body)
        exchange.on_end.append(exchange.body.close)
        try:
            rule = bodies.parse(exchange)
        except GatewayError as error:
            note(error)
            return following(exchange)
        if rule is not None:
            if unknown == "drop":
                _drop(exchange, rule)
            try:
                check(rule, exchange.value)
            except GatewayError as error:
                note(error)
            if unknown == "reject":
                _reject(exchange, rule)
        return following(exchange)

    return reporting


def _reject(exchange: Exchange, rule: Rule) -> None:
    """Raises GatewayError 400 for the first member that the document does not name."""
    if rule.names is None or exchange.value is MISSING:
        return
    for path in rule.names.unknown(exchange.value):
        where = place(path)
        message = f"Unknown parameter: '{where}'."
        raise GatewayError(400, "unknown_parameter", message, param=where)


def _drop(exchange: Exchange, rule: Rule) -> None:
    """Take the members that the document does not name out of the body and its value."""
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

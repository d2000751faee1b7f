"""`deny: {if: {body: {n: {minimum: 2}}}, message: "..."}`: requests that are refused.

A request is refused when all conditions of `if` hold and not all of `unless`. A condition is a JSON
Schema for a member of the body, a query parameter, a header or a variable of the path. A plain
value must be equal; of a list, one value must be equal. A condition on a missing part is not met.
Behind a `transform` the request is judged as that has edited it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from engine.config.json_schema import Schema
from engine.exchange.environ_headers import with_edited_headers
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import Moment, StagePolicy
from engine.spec.request_conditions import Condition, ConditionError, compile_condition
from engine.spec.schemas.member_spellings import Spellings
from engine.values.errors import GatewayError
from engine.values.trees import Json

_VALUE = "A JSON Schema; a value to be equal to; or a list of values, one of them to be equal to."


def _conditions(description: str) -> Json:
    of_body = "Members of the body by name or JSON pointer; a schema of all of it under `schema`."
    locations = {
        "body": of_body,
        "query": "Query parameters by name.",
        "header": "Headers by name.",
        "path": "Variables of the path by name.",
    }
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {
            location: {
                "description": text,
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"description": _VALUE},
            }
            for location, text in locations.items()
        },
    }


_SCHEMA: Schema = {
    "description": "Refuse requests for which all of `if` holds, and not all of `unless`.",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "if": _conditions("The conditions for a refusal."),
        "unless": _conditions("The conditions under which a request is not refused."),
        "status": {
            "description": "The status of the refusal.",
            "enum": [400, 403],
            "default": 400,
        },
        "message": {"description": "The message to the caller.", "type": "string", "minLength": 1},
    },
}


class Deny(Struct, frozen=True):
    """The compiled options. `reads_body`: there is a condition on the body."""

    conditions: tuple[Condition, ...]
    exceptions: tuple[Condition, ...]
    status: int
    message: str

    @property
    def all(self) -> tuple[Condition, ...]:
        return (*self.conditions, *self.exceptions)

    @property
    def reads_body(self) -> bool:
        return any(condition.location == "body" for condition in self.all)

    def with_names(self, spellings: Spellings) -> Deny:
        """The options with the documented names of members that have two spellings."""
        return replace(
            self,
            conditions=tuple(each.with_names(spellings) for each in self.conditions),
            exceptions=tuple(each.with_names(spellings) for each in self.exceptions),
        )


def read(options: Json) -> Deny:
    if "if" not in options and "unless" not in options:
        raise ValueError("'deny' needs 'if' or 'unless'")
    return Deny(
        tuple(_compiled(options, "if", required=False)),
        tuple(_compiled(options, "unless", required=True)),
        options.get("status", 400),
        options.get("message", ""),
    )


def _compiled(options: Json, word: str, *, required: bool) -> Iterator[Condition]:
    for location, conditions in options.get(word, {}).items():
        for name, value in conditions.items():
            try:
                yield compile_condition(location, name, value, required=required)
            except ConditionError as error:
                error.at = (word, *error.at)
                raise


def _build(options: Deny, services: Services) -> Stage:
    headers = [
        condition.name.lower() for condition in options.all if condition.location == "header"
    ]

    def deny(exchange: Exchange, following: Handler) -> Response:
        if options.reads_body:
            _refuse_unread(exchange)
        request = with_edited_headers(exchange, headers) if headers else exchange
        if not all(condition.holds(request) for condition in options.conditions):
            return following(exchange)
        unmet = [condition for condition in options.exceptions if not condition.holds(request)]
        if options.exceptions and not unmet:
            return following(exchange)
        raise _refusal(options, unmet, request)

    return deny


def _refuse_unread(exchange: Exchange) -> None:
    """Refuse a body that could not be parsed: the conditions cannot be checked."""
    if exchange.body.size and exchange.content.value is MISSING:
        message = "The request body cannot be read, and a rule of this gateway depends on it."
        raise GatewayError(400, "unreadable_body", message)


def _refusal(options: Deny, unmet: list[Condition], exchange: Exchange) -> GatewayError:
    param, _, sentence = [*options.conditions, *unmet][0].refusal(exchange)
    message = options.message or sentence
    if param and f"'{param}'" not in message:
        message = f"{message} ('{param}')"
    return GatewayError(options.status, "request_denied", message, param=param)


POLICY = StagePolicy(
    schema=_SCHEMA,
    read=read,
    build=_build,
    moment=Moment.WRITTEN,
    reads_body=lambda options: options.reads_body,
    with_names=Deny.with_names,
)

"""The arguments of a tool: the parameters of an operation and its body, as one object.

The law: each parameter is an argument of its name, and the body is the argument `body`, so that no
constraint of a schema is lost and each call is one request. Where two have the same name, the first
in the order path, query, header, cookie, body keeps it; the others have their location before it
(`query_id`). Characters that model vendors refuse in names are `_`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from engine.plan.route import Route
from engine.relay.request_headers import NEVER_SENT
from engine.spec import security
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.document.path_items import declared_parameters
from engine.spec.operation import Operation
from engine.spec.parameter import NO_PARAMETERS, Parameter
from engine.spec.schemas.schema_validator import SchemaValidator

BODY = "body"
MAX_NAME = 64
"""Characters of an argument's name (Anthropic: `^[a-zA-Z0-9_.-]{1,64}$`)."""
LOCATIONS = ("path", "query", "querystring", "header", "cookie")
_UNUSABLE = re.compile(r"[^A-Za-z0-9_.-]+")


class Argument(Struct, frozen=True):
    """An argument: the parameter of a request that it is. `schema` and `node` are its schema and
    its own place in the document; `validator` is None if nothing is validated."""

    name: str
    location: str
    parameter: str
    required: bool
    description: str
    schema: Node
    validator: SchemaValidator | None
    deprecated: bool = False


def parameters_of(route: Route, item: Node, node: Node) -> tuple[Argument, ...]:
    """The arguments of the parameters of a route's operation. `item` is the path item, `node` the
    operation in its document. Parameters that carry the caller's token, and headers that the
    gateway sends, are none."""
    operation = route.operation
    names: dict[str, Argument] = {}
    for argument in _declared(route, item, node):
        name = _name(argument, names)
        names[name.lower()] = _with_name(argument, name)
    for variable in path_templates.variables(operation.path):
        if not any(a.location == "path" and a.parameter == variable for a in names.values()):
            empty = node.literal("x-modelway-undeclared")
            argument = Argument("", "path", variable, True, "", empty, None)
            name = _name(argument, names)
            names[name.lower()] = _with_name(argument, name)
    return tuple(names.values())


def _declared(route: Route, item: Node, node: Node) -> Iterator[Argument]:
    """The arguments of the declared parameters, without names, in the order of locations."""
    operation = route.operation
    declared: dict[tuple[str, str], Node] = {}
    for parameter in declared_parameters(item, node):
        key = (parameter.text("in"), parameter.text("name"))
        if isinstance(parameter.value, dict) and all(key) and key[0] in LOCATIONS:
            declared[key] = parameter
    variables = path_templates.variables(operation.path)
    fixed = {name for name, _ in operation.query}
    compiled = {(p.location, p.name): p for p in operation.parameters}
    for location in LOCATIONS:
        for (where, name), parameter in declared.items():
            if where != location or (location == "path" and name not in variables):
                continue
            if location == "query" and name in fixed:
                continue
            if not _carries_token(route, location, name):
                yield _argument(name, location, parameter, compiled.get((location, name)))


def _carries_token(route: Route, location: str, name: str) -> bool:
    """Whether a parameter is a header of the gateway, or one in which callers send their token."""
    folded = name.lower()
    if location == "header" and (folded in NEVER_SENT or folded in NO_PARAMETERS):
        return True
    return security.is_carrier(route.carriers, location, name)


def _argument(name: str, location: str, parameter: Node, compiled: Parameter | None) -> Argument:
    contents = [media for _, media in parameter.get("content").items()]
    return Argument(
        name="",
        location=location,
        parameter=name,
        required=location == "path" or parameter.value.get("required") is True,
        description=parameter.text("description"),
        schema=(contents[0] if contents else parameter).get("schema"),
        validator=compiled.validator if compiled is not None else None,
        deprecated=parameter.value.get("deprecated") is True,
    )


def _name(argument: Argument, names: Mapping[str, Argument]) -> str:
    """The name of an argument that no other has."""
    plain = usable_name(argument.parameter)
    candidates = [plain, f"{argument.location}_{plain}"[:MAX_NAME]]
    candidates += [f"{plain[: MAX_NAME - 4]}_{number}" for number in range(2, len(names) + 3)]
    return next(name for name in candidates if name.lower() not in {*names, BODY})


def usable_name(parameter: str) -> str:
    """The name of a parameter without characters that model vendors refuse."""
    return _UNUSABLE.sub("_", parameter).strip("_")[:MAX_NAME] or "value"


def _with_name(argument: Argument, name: str) -> Argument:
    return Argument(
        name,
        *(argument.location, argument.parameter, argument.required, argument.description),
        *(argument.schema, argument.validator, argument.deprecated),
    )


def has_body(operation: Operation, node: Node) -> bool:
    """Whether requests of an operation have a body that says something."""
    return bool(operation.bodies.media_types) and _says_something(operation, node)


def _says_something(operation: Operation, node: Node) -> bool:
    """Whether a body is required, or its schema is more than an object without members: Stripe's
    document has an empty form even for GET."""
    if operation.bodies.required:
        return True
    schemas = [media.get("schema") for _, media in node.get("requestBody").get("content").items()]
    return any(not _is_empty_object(schema.value) for schema in schemas) or not schemas


def _is_empty_object(schema: Any) -> bool:
    return (
        isinstance(schema, Mapping)
        and schema.get("type") == "object"
        and not schema.get("properties")
        and not schema.keys() - {"type", "properties", "additionalProperties", "required"}
        and not isinstance(schema.get("additionalProperties"), Mapping)
    )

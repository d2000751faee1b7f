"""Checks of what the config changes of the arguments of tools: each exists, none that is required
is hidden, and values that are always sent are ones that the operation accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.config.config import Config
from engine.config.mcp import ToolArgument, ToolConfig
from engine.plan.plan import NamedRoute
from engine.plan.route import Route
from engine.plan.tool_arguments import BODY, Argument, has_body, parameters_of
from engine.source.problem import Findings
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node
from engine.spec.document.schema_types import extra_of, properties_of
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.spec.spec import Specification

_MEMBER = f"{BODY}."
_MAX_NAMED = 12


def check_changes(
    tools: Mapping[str, Sequence[NamedRoute]],
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> None:
    """Note each change of an argument that has no effect or makes no call possible."""
    for server, named_routes in tools.items():
        for pattern, entry in config.mcp[server].tools.items():
            if entry.arguments:
                routes = [
                    named_route.route for named_route in named_routes if _is_of(named_route, entry)
                ]
                _Checks(config, specifications, findings).check(pattern, entry, routes)


def _is_of(named_route: NamedRoute, entry: ToolConfig) -> bool:
    """Whether an entry changes a tool."""
    arguments = named_route.changes.arguments
    return all(name in arguments for name in entry.arguments) and any(
        arguments[name] is change for name, change in entry.arguments.items()
    )


class _Checks:
    def __init__(
        self, config: Config, specifications: Mapping[str, Specification], findings: Findings
    ) -> None:
        self._config, self._specifications, self._findings = config, specifications, findings

    def check(self, pattern: str, entry: ToolConfig, routes: Sequence[Route]) -> None:
        tools = [_Tool(route, self._specifications[route.operation.spec]) for route in routes]
        for name, change in entry.arguments.items():
            tools_with_name = [tool for tool in tools if tool.has(name)]
            if tools and not tools_with_name:
                names = [*tools[0].names()]
                text = ", ".join(names[:_MAX_NAMED]) or "none"
                hint = did_you_mean(name, names) or f"it has {text}"
                of = pattern if "*" in pattern else tools[0].route.operation.id
                message = f"'{name}' is not an argument of {of}"
                self._error(change, message, hint, key=True)
            for tool in tools_with_name:
                if change.hide and not change.values and tool.is_required(name):
                    message = f"'{name}' of {tool.route.operation.id} is required"
                    self._error(change, message, "write `value: ...`, which is always sent")
                elif change.values and (refusal := tool.refusal(name, change.values[0])):
                    at = (*change.at, "value")
                    self._findings.error(
                        self._config.source, at, "MW339", f"this value is refused: {refusal}"
                    )

    def _error(self, change: ToolArgument, message: str, hint: str, *, key: bool = False) -> None:
        self._findings.error(self._config.source, change.at, "MW339", message, hint, key=key)


class _Tool:
    """A route with its arguments."""

    def __init__(self, route: Route, specification: Specification) -> None:
        self.route = route
        self._specification = specification
        self._node = specification.node(route.operation)
        item = specification.item(route.operation)
        self._arguments: dict[str, Argument] = {
            argument.name: argument for argument in parameters_of(route, item, self._node)
        }

    def names(self) -> Iterator[str]:
        yield from self._arguments
        if has_body(self.route.operation, self._node):
            yield BODY
            for schema in self._body_schemas():
                yield from (f"{_MEMBER}{n}" for n in properties_of(schema.value, schema.follow))

    def has(self, name: str) -> bool:
        """Whether there is such an argument; a body without members takes any."""
        if name in self._arguments or not name.startswith(BODY):
            return name in self._arguments
        if not has_body(self.route.operation, self._node):
            return False
        return name == BODY or any(
            name.removeprefix(_MEMBER) in members or not members
            for schema in self._body_schemas()
            if (members := properties_of(schema.value, schema.follow)) is not None
        )

    def is_required(self, name: str) -> bool:
        if name in self._arguments:
            return self._arguments[name].required
        if name == BODY:
            return self.route.operation.bodies.required
        member = name.removeprefix(_MEMBER)
        return any(member in (s.value.get("required") or ()) for s in self._body_schemas())

    def refusal(self, name: str, value: object) -> str:
        """Why the operation refuses a value; "" if it accepts it."""
        validator = self._validator(name)
        if validator is None or validator.is_valid(value):
            return ""
        return explain(validator, value, name).message

    def _validator(self, name: str) -> SchemaValidator | None:
        if name in self._arguments:
            return self._arguments[name].validator
        for schema in self._body_schemas():
            node = schema if name == BODY else _member(schema, name.removeprefix(_MEMBER))
            if node is not None:
                return self._specification.validator(node)
        return None

    def _body_schemas(self) -> list[Node]:
        contents = self._node.get("requestBody").get("content").items()
        schemas = [media.get("schema") for _, media in contents]
        return [schema for schema in schemas if isinstance(schema.value, dict)]


def _member(schema: Node, name: str) -> Node | None:
    """The schema of a member, if the schema itself has it."""
    members = schema.get("properties")
    if members.has(name):
        return members.get(name)
    extra = extra_of(schema.value, schema.follow)
    return (
        schema.get("additionalProperties") if extra and schema.has("additionalProperties") else None
    )

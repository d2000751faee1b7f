"""A tool of an MCP server: an operation as agents list and call it. `tools_of` makes all of a
server."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from msgspec import Struct

from engine.config.mcp import McpServer, ToolConfig
from engine.mcp.agent_keywords import MAX_DESCRIPTION
from engine.mcp.body import BodyArgument, CannotBeTool, body_of, body_schema
from engine.mcp.descriptions import annotations_of, description_of, plain_text, title_of
from engine.mcp.request_values import ToolArguments
from engine.mcp.schema_conversion import Schema
from engine.mcp.schemas import Schemas, edit_members, references
from engine.plan.plan import NamedRoute, Plan
from engine.plan.route import Route
from engine.plan.tool_arguments import BODY, Argument, parameters_of
from engine.spec.document.node import Node
from engine.spec.request_writer import RequestValues
from engine.values.caller import Caller
from engine.values.media_types import is_json

MAX_OUTPUT_SCHEMA = 64_000
"""Bytes of what the schema of an answer may refer to: as many as another server's tool has."""


class Tool(Struct, frozen=True):
    """An operation as a tool. The schemas are JSON Schema 2020-12, complete in themselves, with an
    object as their root; `output_schema` is None if it is not listed. `operation` is
    `spec.operationId`."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, bool]
    operation: str
    route: Route
    arguments: ToolArguments

    def values(self, arguments: Mapping[str, Any], body_text: bytes = b"") -> RequestValues:
        """The values of the request of a call, which `RequestWriter.write` writes; `body_text` is
        the JSON of the argument `body` as it was sent, if that is known. Raises InvalidArguments
        with the place of a mistake."""
        return self.arguments.request_values(arguments, body_text)

    @property
    def judges_values(self) -> bool:
        """Whether `values` refuses all that the document of the operation does."""
        return self.arguments.body is None or self.arguments.body.kind == "json"

    def for_caller(self, caller: Caller | None) -> Tool:
        """The tool as a caller sees it: as all do."""
        return self


def tools_of(plan: Plan, server: McpServer) -> tuple[Tool, ...]:
    """The tools of a server of a plan, in the order of their names."""
    tools, _ = tools_and_refusals(plan, server)
    return tools


def tool_of(plan: Plan, server: McpServer, named_route: NamedRoute) -> Tool:
    """One tool of a server. Raises CannotBeTool."""
    return _Maker(plan, named_route.route.operation.spec).tool(named_route, server)


def tools_and_refusals(plan: Plan, server: McpServer) -> tuple[tuple[Tool, ...], dict[str, str]]:
    """The tools of a server, and why each operation of it that cannot be a tool is none."""
    makers: dict[str, _Maker] = {}
    tools, refusals = [], {}
    for named_route in plan.tools.get(server.name, ()):
        operation = named_route.route.operation
        if operation.spec not in makers:
            makers[operation.spec] = _Maker(plan, operation.spec)
        try:
            tools.append(makers[operation.spec].tool(named_route, server))
        except CannotBeTool as error:
            refusals[operation.id] = str(error)
    return tuple(tools), refusals


class _Maker:
    """Makes the tools of one document."""

    def __init__(self, plan: Plan, spec: str) -> None:
        library = plan.specifications[spec].library
        self._requests = Schemas(library)
        self._answers = Schemas(library, answers=True)

    def tool(self, named_route: NamedRoute, server: McpServer) -> Tool:
        route, changes = named_route.route, named_route.changes
        item, node = _nodes(self._requests, route)
        arguments = {a.name: a for a in parameters_of(route, item, node)}
        body = body_of(route, node)
        parts = _with_changes(arguments, body, changes)
        has_output = changes.output_schema
        if has_output is None:
            has_output = server.output_schemas
        output = None
        if has_output:
            _, answer_node = _nodes(self._answers, route)
            output = output_schema(answer_node, self._answers)
        return Tool(
            name=named_route.name,
            title=changes.title or title_of(node),
            description=changes.description or description_of(node, route.operation),
            input_schema=self._input_schema(parts, node, changes),
            output_schema=output,
            annotations=annotations_of(route, changes),
            operation=route.operation.id,
            route=route,
            arguments=parts,
        )

    def _input_schema(self, parts: ToolArguments, node: Node, changes: ToolConfig) -> Schema:
        """The schema of all arguments that agents may give."""
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for name in parts.names():
            if name == BODY and parts.body is not None:
                properties[name] = self._body_schema(parts, node, changes)
                is_required = parts.body.required and not _is_filled(properties[name], parts)
            else:
                argument = parts.arguments[name]
                properties[name] = self._parameter_schema(argument)
                is_required = argument.required
            if name in changes.arguments and changes.arguments[name].description:
                description = changes.arguments[name].description
                properties[name] = {**properties[name], "description": description}
            if is_required:
                required.append(name)
        schema: Schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        complete = _with_definitions(schema, self._requests)
        assert complete is not None, "it has no bound"
        return complete

    def _parameter_schema(self, argument: Argument) -> Schema:
        if argument.schema.value is None:
            schema: Schema = {"type": "string"} if argument.location == "path" else {}
        else:
            schema = self._requests.convert(argument.schema)
        if argument.description:
            text = plain_text(argument.description, MAX_DESCRIPTION)
            schema = {**schema, "description": text}
        if argument.deprecated:
            schema["deprecated"] = True
        return schema

    def _body_schema(self, parts: ToolArguments, node: Node, changes: ToolConfig) -> Schema:
        assert parts.body is not None
        schema = body_schema(parts.body, node, self._requests)
        prefix = f"{BODY}."
        hidden_members = {*parts.members, *(n.removeprefix(prefix) for n in parts.hidden)}
        descriptions = {
            name.removeprefix(prefix): each.description
            for name, each in changes.arguments.items()
            if name.startswith(prefix) and each.description
        }

        def edit(name: str, member: Schema) -> Schema | None:
            if name in hidden_members:
                return None
            return {**member, "description": descriptions[name]} if name in descriptions else member

        edits = hidden_members or descriptions
        return edit_members(schema, self._requests, edit) if edits else schema


def _nodes(schemas: Schemas, route: Route) -> tuple[Node, Node]:
    """The path item and the operation in the document whose values `schemas` converts."""
    _, path, *steps = route.operation.at
    item = node = schemas.document.get("paths").get(str(path))
    for step in steps:
        node = node.get(str(step))
    return item, node


def _with_changes(
    arguments: Mapping[str, Argument], body: BodyArgument | None, changes: ToolConfig
) -> ToolArguments:
    """The arguments with the values that the config fixes, and without those that it hides."""
    names = {*arguments, *([BODY] if body is not None else [])}
    names |= {f"{BODY}.{name}" for name in (body.members if body is not None else ())}
    values, members, hidden = dict[str, Any](), dict[str, Any](), set[str]()
    for name, change in changes.arguments.items():
        is_member = name.startswith(f"{BODY}.")
        if name not in names and not (is_member and body is not None and not body.members):
            continue  # of a wildcard, for other tools
        if change.values and is_member:
            members[name.removeprefix(f"{BODY}.")] = change.values[0]
        elif change.values:
            values[name] = change.values[0]
        elif change.hide:
            hidden.add(name)
    return ToolArguments(arguments, body, values, members, frozenset(hidden))


def _is_filled(schema: Schema, parts: ToolArguments) -> bool:
    """Whether the members that the config fixes are all that a body needs."""
    return bool(parts.members) and not any(
        schema.get(word) for word in ("required", "allOf", "anyOf", "oneOf", "$ref")
    )


def output_schema(node: Node, schemas: Schemas) -> Schema | None:
    """The schema of the first successful JSON answer of an operation, if it is an object, and not
    too large: in some documents each object refers to all others."""
    for status, response in node.get("responses").items():
        if not str(status).startswith("2"):
            continue
        for media_type, media in response.get("content").items():
            schema = media.get("schema")
            if is_json(media_type) and isinstance(schema.value, Mapping):
                converted = schemas.convert(schema)
                if not _is_object(converted):
                    return None
                return _with_definitions(converted, schemas, MAX_OUTPUT_SCHEMA)
    return None


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type", "object" if "properties" in schema else "")
    return bool(kind == "object")


def _with_definitions(schema: Schema, schemas: Schemas, most: float = inf) -> Schema | None:
    """A schema with the `$defs` that it refers to; its root is an object. None if these have more
    than so many bytes."""
    schema = {**schema, "type": "object"}
    if names := references(schema):
        definitions = schemas.definitions(names, most)
        if definitions is None:
            return None
        schema["$defs"] = definitions
    return schema

"""A tool that asks a model: a call of it is a request by the route of its operation, with the
guards of that, and with a model that the config lists and the token may use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from engine.config.mcp import NO_CHANGES, McpServer
from engine.config.schema_check import Validator
from engine.mcp.listed_tool import InvalidArguments
from engine.mcp.models.kinds import KINDS
from engine.mcp.protocol.results import MAX_RESULT
from engine.mcp.tool import Tool, tool_of
from engine.plan.model_tools import route_of
from engine.plan.plan import NamedRoute, Plan
from engine.plan.route import Route
from engine.plan.tool_arguments import BODY
from engine.source.suggestion import did_you_mean
from engine.spec.request_writer import RequestValues
from engine.values.caller import Caller

_MODEL = "model"
MAX_IMAGE = 8_000_000
"""Bytes of an answer with an image, in base64; clients took an answer of 8 MiB."""


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool of a kind (its `name`), over `models`; `of` is the tool of the operation that a call
    becomes."""

    name: str
    models: tuple[str, ...]
    of: Tool = field(repr=False)
    output_schema: Mapping[str, Any] | None = None

    @property
    def title(self) -> str:
        return KINDS[self.name].title

    @property
    def description(self) -> str:
        return KINDS[self.name].description

    @property
    def annotations(self) -> Mapping[str, bool]:
        """It costs money, and changes nothing."""
        return {"readOnlyHint": True, "openWorldHint": True}

    @property
    def max_answer(self) -> int:
        """Bytes of an answer that a result has."""
        return MAX_IMAGE if self.name == "generate_image" else MAX_RESULT

    @property
    def judges_values(self) -> bool:
        """Whether `values` refuses all that the document of the operation does."""
        return self.of.judges_values

    @property
    def operation(self) -> str:
        return self.of.operation

    @property
    def route(self) -> Route:
        return self.of.route

    @property
    def input_schema(self) -> Mapping[str, Any]:
        kind, default = KINDS[self.name], self.models[0]
        text = f"The model; {default} if none is named."
        model = {"type": "string", "enum": [*self.models], "description": text}
        return {
            "type": "object",
            "properties": {**kind.properties, _MODEL: model},
            "required": [*kind.required],
            "additionalProperties": False,
        }

    def for_caller(self, caller: Caller | None) -> ModelTool:
        """The tool with the models that a caller may use."""
        if caller is None or not caller.model_lists:
            return self
        return replace(self, models=tuple(filter(caller.may_use, self.models)))

    def values(self, arguments: Mapping[str, Any], body_text: bytes = b"") -> RequestValues:
        """The values of the request of a call, whose body is made of the arguments. Raises
        InvalidArguments."""
        if not isinstance(arguments, Mapping):
            raise InvalidArguments("", "the arguments must be an object")
        model = arguments.get(_MODEL, self.models[0])
        if model not in self.models:
            hint = did_you_mean(str(model), self.models) or f"one of {', '.join(self.models)}"
            raise InvalidArguments(_MODEL, f"'{str(model)[:64]}' is no model of this tool; {hint}")
        _check(self.name, {**arguments, _MODEL: model})
        path = self.route.operation.path
        return self.of.values({BODY: KINDS[self.name].body(arguments, model, path)})


@cache
def _validators(kind: str) -> Mapping[str, Validator]:
    """The validators of the arguments of a kind."""
    properties = {**KINDS[kind].properties, _MODEL: {"type": "string"}}
    return {name: Validator(schema) for name, schema in properties.items()}


def _check(kind: str, arguments: Mapping[str, Any]) -> None:
    """Raises InvalidArguments for arguments that the schema of the tool does not have."""
    validators = _validators(kind)
    for name, value in arguments.items():
        if name not in validators:
            hint = did_you_mean(name, validators) or f"it has {', '.join(validators)}"
            raise InvalidArguments(name, f"the tool has no such argument; {hint}")
        if not validators[name].accepts(value):
            expected = {k: v for k, v in validators[name].schema.items() if k != "description"}
            raise InvalidArguments(name, f"expected {json.dumps(expected)}")
    for name in KINDS[kind].required:
        if name not in arguments:
            raise InvalidArguments(name, "it is required")


def model_tools(plan: Plan, server: McpServer) -> list[ModelTool]:
    """The tools of a server that ask models."""
    tools = []
    for each in server.models:
        route = route_of(each.name, plan.routes)
        assert route is not None, "the plan has checked it"
        operation = tool_of(plan, server, NamedRoute(each.name, route, NO_CHANGES))
        tools.append(ModelTool(each.name, each.models, operation))
    return tools

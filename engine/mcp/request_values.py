"""The arguments of a call become the values of a request: checked, and with those that the config
fixes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from engine.exchange.exchange import MISSING
from engine.mcp.body import BodyArgument
from engine.mcp.listed_tool import InvalidArguments
from engine.plan.tool_arguments import BODY, Argument
from engine.source.suggestion import did_you_mean
from engine.spec.request_writer import RequestValues
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.errors import GatewayError

_PATH, _QUERY, _WHOLE_QUERY = 0, 1, -1
_PLACES = {"path": _PATH, "query": _QUERY, "header": 2, "cookie": 3, "querystring": _WHOLE_QUERY}
"""The member of RequestValues that has the parameters of a location, by its index."""
_NO_SEGMENTS = ("", ".", "..")


@dataclass(frozen=True)
class ToolArguments:
    """The arguments of a tool. `values` are those that the config fixes, by name, `members` those
    of the body; agents can give none of them, nor those that are `hidden` (`name`, `body.name`)."""

    arguments: Mapping[str, Argument]
    body: BodyArgument | None
    values: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    def names(self) -> list[str]:
        """The arguments that agents may give."""
        names = [*self.arguments, *([BODY] if self.body is not None else [])]
        return [name for name in names if name not in self.values and name not in self.hidden]

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.names())

    @cached_property
    def _parameters(self) -> tuple[tuple[str, int, str, SchemaValidator | None, bool], ...]:
        """The name, the place in RequestValues, the parameter's name, its validator, and whether
        it is required, in the order of the operation."""
        return tuple(
            (a.name, _PLACES[a.location], a.parameter, a.validator, a.required)
            for a in self.arguments.values()
        )

    @cached_property
    def _sends_text(self) -> bool:
        """Whether the body is sent as an agent writes it."""
        return self.body is not None and self.body.kind == "json" and not self.members

    @cached_property
    def _unlisted_members(self) -> tuple[str, ...]:
        """The members of the body that agents may not give."""
        prefix = f"{BODY}."
        hidden = (name.removeprefix(prefix) for name in self.hidden if name.startswith(prefix))
        return (*self.members, *hidden)

    def request_values(self, arguments: Mapping[str, Any], body_text: bytes = b"") -> RequestValues:
        """The values of a request. None is the same as no value, unless it is the body, whose JSON
        is `body_text`, if that is known. Raises InvalidArguments."""
        if not isinstance(arguments, dict):
            raise InvalidArguments("", "the arguments must be an object")
        if not self._names.issuperset(arguments):
            raise self._unknown(arguments)
        values = {**arguments, **self.values} if self.values else arguments
        path, query, headers, cookies = self._parts(values)
        if self.body is None:
            return RequestValues(path, query, headers, cookies)
        body, media_type = self._body(self.body, values)
        if body is MISSING or not self._sends_text:
            body_text = b""
        return RequestValues(path, query, headers, cookies, body, media_type, body_text)

    def _parts(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """The values of the parameters, for each location."""
        parts: tuple[dict[str, Any], ...] = {}, {}, {}, {}
        name = ""
        try:
            for name, place, parameter, validator, is_required in self._parameters:
                value = values.get(name)
                if value is None:
                    if is_required:
                        raise InvalidArguments(name, "it is required")
                    continue
                if validator is not None and not validator.is_valid(value):
                    refusal = explain(validator, value, name)
                    raise InvalidArguments(refusal.param or name, refusal.message)
                if place > _PATH:
                    parts[place][parameter] = value
                elif place == _PATH:
                    if value in _NO_SEGMENTS:
                        raise InvalidArguments(name, f"'{value}' is no segment of a path")
                    parts[_PATH][parameter] = value
                elif isinstance(value, Mapping):
                    parts[_QUERY].update(value)
                else:
                    raise InvalidArguments(name, "expected an object")
        except GatewayError as error:  # to judge the value takes too long
            raise InvalidArguments(name, error.message) from error
        return parts

    def _unknown(self, arguments: Mapping[str, Any]) -> InvalidArguments:
        """The refusal of the first argument that agents may not give."""
        name, names = next(name for name in arguments if name not in self._names), self.names()
        hint = did_you_mean(str(name), names) if names else ""
        hint = hint or f"it has {', '.join(names) or 'none'}"
        return InvalidArguments(str(name), f"the tool has no such argument; {hint}")

    def _body(self, body: BodyArgument, values: Mapping[str, Any]) -> tuple[Any, str]:
        value = values.get(BODY, MISSING)
        if self._unlisted_members and isinstance(value, Mapping):
            for name in self._unlisted_members:
                if name in value:
                    raise InvalidArguments(f"{BODY}.{name}", "the tool has no such member")
        if self.members and (value is MISSING or isinstance(value, Mapping)):
            value = {**({} if value is MISSING else value), **deepcopy(dict(self.members))}
        if value is MISSING or (value is None and not body.required):
            if body.required:
                raise InvalidArguments(BODY, "it is required")
            return MISSING, ""
        return body.read(value)

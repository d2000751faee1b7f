"""The arguments of a call become the values of a request: checked, and with those that the config
fixes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from engine.exchange.exchange import MISSING
from engine.plan.tool_arguments import BODY, Argument
from engine.source.suggestion import did_you_mean
from engine.spec.refusal_messages import explain
from engine.spec.request_writer import RequestValues
from engine.tools.body import BodyArgument
from engine.tools.invalid_arguments import InvalidArguments
from engine.values.errors import GatewayError

_KEYS = {
    "path": "path",
    "query": "query",
    "querystring": "query",
    "header": "headers",
    "cookie": "cookies",
}
"""The member of RequestValues that has the parameters of a location."""


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
    def _parameters(self) -> tuple[tuple[str, str, str, Argument], ...]:
        """The name, the location in RequestValues, the parameter's name and the argument itself, in
        the order of the operation."""
        return tuple((a.name, _KEYS[a.location], a.parameter, a) for a in self.arguments.values())

    @cached_property
    def _unlisted_members(self) -> tuple[str, ...]:
        """The members of the body that agents may not give."""
        prefix = f"{BODY}."
        hidden = (name.removeprefix(prefix) for name in self.hidden if name.startswith(prefix))
        return (*self.members, *hidden)

    def request_values(self, arguments: Mapping[str, Any]) -> RequestValues:
        """The values of a request. None is the same as no value, unless it is the body. Raises
        InvalidArguments."""
        if not isinstance(arguments, Mapping):
            raise InvalidArguments("", "the arguments must be an object")
        if not self._names.issuperset(arguments):
            raise self._unknown(arguments)
        values = {**arguments, **self.values} if self.values else arguments
        parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "headers": {}, "cookies": {}}
        for name, key, parameter, argument in self._parameters:
            value = values.get(name)
            if value is not None:
                _check(argument, value)
                if argument.location == "querystring":
                    parts[key].update(_whole_query(argument, value))
                else:
                    parts[key][parameter] = value
            elif argument.required:
                raise InvalidArguments(name, "it is required")
        body, media_type = (MISSING, "") if self.body is None else self._body(self.body, values)
        return RequestValues(**parts, body=body, media_type=media_type)

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


def _whole_query(argument: Argument, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidArguments(argument.name, "expected an object")
    return value


def _check(argument: Argument, value: Any) -> None:
    """Refuse the value of a parameter that the operation refuses."""
    if argument.location == "path" and value in ("", ".", ".."):
        raise InvalidArguments(argument.name, f"'{value}' is no segment of a path")
    if argument.validator is None:
        return
    try:
        is_valid = argument.validator.is_valid(value)
    except GatewayError as error:
        raise InvalidArguments(argument.name, error.message) from error
    if not is_valid:
        refusal = explain(argument.validator, value, argument.name)
        raise InvalidArguments(refusal.param or argument.name, refusal.message)

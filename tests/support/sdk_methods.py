"""Calls every method of OpenAI's and Anthropic's SDK that sends a request, with arguments made from
its types, and ids of objects that earlier calls have created."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from tools.sdk_operations import SdkOperation

_ORDER = ("create", "upload", "send", "add")
_LAST = ("cancel", "archive", "complete", "redact", "hangup", "reject", "stop")
_SKIPPED = {"Omit", "NotGiven", "OmitType"}
FILE = ("batch.jsonl", b'{"custom_id":"one","method":"POST","url":"/v1/responses","body":{}}\n')


@dataclass
class Calls:
    """The calls of one client. `known` are ids by the names of parameters, most special first:
    `containers.files.files:file_id`, then `file_id`; `given` are arguments by name, `special` those
    of one method, also of those that it does not require."""

    client: Any
    given: Mapping[str, Any]
    special: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def run(self, operations: list[SdkOperation]) -> Iterator[tuple[SdkOperation, Any]]:
        """Each operation with its answer, or with the exception of the SDK."""
        for operation in sorted(operations, key=_rank):
            try:
                yield operation, self._call(operation)
            except Exception as error:  # noqa: BLE001 - the test judges it
                yield operation, error

    def _call(self, operation: SdkOperation) -> Any:
        module, _, name = operation.method.rpartition(".")
        function = getattr(self._resource(module), name)
        arguments = self._arguments(function, module, self.special.get(operation.method, {}))
        answer = function(*arguments.args, **arguments.kwargs)
        if name in ("add", "create", "upload", "create_character"):
            self._remember(module, name, answer)
        if (
            hasattr(answer, "response")
            and hasattr(answer, "__iter__")
            and not isinstance(answer, BaseModel)
        ):
            answer = list(answer)
        return answer

    def _resource(self, module: str) -> Any:
        """The resource of a module: `beta.threads.runs.runs` is `client.beta.threads.runs`."""
        names = module.split(".")
        if len(names) > 1 and names[-1] == names[-2]:
            names = names[:-1]
        resource = self.client
        for name in names:
            resource = getattr(resource, name)
        return resource

    def _remember(self, module: str, created_by: str, answer: Any) -> None:
        """Keep the id of a new object under the names that methods of its resource have for it."""
        id_ = getattr(answer, "id", None) or getattr(answer, "first_id", None)
        if not isinstance(id_, str):
            return
        resource = self._resource(module)
        names = ["retrieve", "retrieve_metadata", "delete", "cancel"]
        for name in ["get_character"] if created_by == "create_character" else names:
            if (function := getattr(resource, name, None)) is None:
                continue
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
                    value = getattr(answer, "version", id_) if parameter.name == "version" else id_
                    self.known[f"{module}:{parameter.name}"] = str(value)
                    self.known.setdefault(parameter.name, id_)
                    break

    def _arguments(
        self, function: Callable[..., Any], module: str, special: Mapping[str, Any]
    ) -> inspect.BoundArguments:
        plain = inspect.unwrap(getattr(function, "__func__", function))
        overloads = typing.get_overloads(plain)
        signature = inspect.signature(overloads[0] if overloads else plain)
        hints = _hints(plain)
        values: dict[str, Any] = dict(special)
        for name, parameter in list(signature.parameters.items())[1:]:
            known = self._known(module, name)
            if name not in special and parameter.default is inspect.Parameter.empty:
                values[name] = self._value(name, hints.get(name, str), known)
        bound = inspect.signature(function).bind_partial()
        for name, value in values.items():
            bound.arguments[name] = value
        return bound

    def _known(self, module: str, name: str) -> str | None:
        """The id that a resource knows by this name, else the nearest resource that does."""
        names = module.split(".")
        while names:
            for key, id_ in self.known.items():
                if key.startswith(".".join(names)) and key.endswith(f":{name}"):
                    return id_
            names.pop()
        return self.known.get(name)

    def _value(self, name: str, hint: Any, known: str | None) -> Any:
        if name in self.given:
            return self.given[name]
        return known if known is not None else self.sample(hint, name)

    def sample(self, hint: Any, name: str = "") -> Any:
        """A small value of a type."""
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if name in self.given:
            return self.given[name]
        if origin in (typing.Annotated, typing.Required, typing.NotRequired):
            return self.sample(inner[0], name)
        if origin is typing.Literal:
            return inner[0]
        if origin is typing.Union or str(origin) == "<class 'types.UnionType'>":
            branches = [b for b in inner if getattr(b, "__name__", "") not in _SKIPPED]
            branches = [b for b in branches if b is not type(None)]
            return self.sample(branches[0], name)
        if hasattr(hint, "__required_keys__"):
            types = _hints(hint)
            required = {k for k, t in types.items() if typing.get_origin(t) is typing.Required}
            return {
                key: self.sample(types[key], key) for key in {*hint.__required_keys__, *required}
            }
        if origin is not None and origin is not dict and inner and name_of(origin) in _LISTS:
            return [self.sample(inner[0], name)]
        if (
            name_of(hint) in ("Dict", "Mapping", "dict")
            or origin is dict
            or name_of(origin) == "Mapping"
        ):
            return {}
        simple = {str: f"{name or 'text'}_1", int: 1, float: 1.0, bool: True, bytes: b"bytes"}
        return simple.get(hint, self.known.get(name, {} if hint is object else "text"))


_LISTS = ("list", "Iterable", "Sequence", "List", "SequenceNotStr", "Collection")


def name_of(hint: Any) -> str:
    return str(getattr(hint, "__name__", ""))


def _hints(holder: Any) -> dict[str, Any]:
    return typing.get_type_hints(holder, include_extras=True)


def _rank(operation: SdkOperation) -> tuple[int, int]:
    """Objects are created from the outside in, and deleted from the inside out."""
    name = operation.method.rpartition(".")[2]
    depth = operation.path.count("{")
    if operation.verb == "DELETE":
        return 3, -depth
    if name.startswith(_LAST):
        return 2, -depth
    return (0, depth) if name.startswith(_ORDER) else (1, depth)

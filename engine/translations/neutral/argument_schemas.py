"""The schemas of tools' arguments, for vendors that require their `type` and take no alternatives
at the top.

OpenAI and Anthropic refuse a function whose schema has `anyOf`, `oneOf` or `allOf` there, and
OpenAI `enum` and `not`, which servers of tools declare. The model gets the members of all
alternatives, requires what each of them does, and reads the rest in the description.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.json_members import OBJECT, TextCache, decode
from engine.translations.neutral.request import Tool
from engine.values.trees import Json

NO_ARGUMENTS = {"type": "object", "properties": {}}

_JOINED = ("allOf", "anyOf", "oneOf")
ALTERNATIVES = frozenset((*_JOINED, "enum", "not", "if", "then", "else"))
"""The keywords that may not stand at the top."""


def arguments_schema(tool: Tool) -> Raw | None:
    """The schema of a tool's arguments, None for none. Raises WrongType."""
    if tool.schema is None:
        return None
    schema = _WRITTEN[bytes(tool.schema)]
    if schema is None:
        decode(OBJECT, tool.schema, tool.place, "a tool whose schema is an object")
    return schema


def _written(text: bytes) -> Raw | None:
    """The schema as vendors take it, None if it is not an object."""
    try:
        members = OBJECT.decode(text)
    except msgspec.ValidationError:
        return None
    if not ALTERNATIVES.isdisjoint(members):
        return Raw(msgspec.json.encode(_flat(msgspec.json.decode(text))))
    if "type" not in members:
        return Raw(msgspec.json.encode({"type": "object", **members}))
    return Raw(text)


_WRITTEN = TextCache(_written)


def described(description: object, keywords: Json) -> str:
    """A description with the keywords of a schema that only the model can read."""
    words = f"Further keywords of its JSON Schema: {msgspec.json.encode(keywords).decode()}"
    return f"{description}\n\n{words}" if description else words


def _flat(document: Json) -> Json:
    rest = {key: document.pop(key) for key in document.keys() & ALTERNATIVES}
    properties = dict(_properties(document))
    for part in _inside({key: rest.get(key) for key in _JOINED}, document):
        for name, each in _properties(part):
            properties.setdefault(name, each)
    required = dict.fromkeys(_required(document))
    for key in _JOINED:
        named = [dict.fromkeys(_required(each)) for each in _parts(rest.get(key), document)]
        for name in {name: None for each in named for name in each}:
            if key == "allOf" or all(name in each for each in named):
                required[name] = None
    members: Json = {"type": "object", **document, "properties": properties}
    if names := [name for name in required if name in properties]:
        members["required"] = names
    ordered = {key: rest[key] for key in sorted(rest)}
    return members | {"description": described(document.get("description"), ordered)}


def _inside(schema: Json, document: Json) -> Iterator[Json]:
    """All schemas that these keywords join, at any depth."""
    pending, seen = [schema], set[int]()
    while pending:
        each = pending.pop()
        for part in [part for key in _JOINED for part in _parts(each.get(key), document)]:
            if id(part) not in seen:
                seen.add(id(part))
                pending.append(part)
                yield part


def _parts(value: object, document: Json) -> Iterator[Json]:
    """The schemas of a list, with definitions in place of references to them."""
    for part in value if isinstance(value, list) else ():
        reference: Any = part.get("$ref") if isinstance(part, dict) else None
        path = reference.split("/") if isinstance(reference, str) else ()
        if len(path) == 3 and isinstance(definitions := document.get(path[1]), dict):
            part = definitions.get(path[2])
        if isinstance(part, dict):
            yield part


def _properties(schema: Json) -> Iterator[tuple[str, object]]:
    properties = schema.get("properties")
    yield from properties.items() if isinstance(properties, dict) else ()


def _required(schema: Json) -> Iterator[str]:
    names = schema.get("required")
    yield from (each for each in names if isinstance(each, str)) if isinstance(names, list) else ()

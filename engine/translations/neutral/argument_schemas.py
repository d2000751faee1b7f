"""The schemas of tools' arguments, for vendors that require their `type`, and take neither null in
place of a keyword's value nor alternatives at the top.

OpenAI and Anthropic refuse a function whose schema has `anyOf`, `oneOf` or `allOf` there, and
OpenAI `enum` and `not`, which servers of tools declare. The model gets the members of all
alternatives, requires those of `allOf` alone, and reads the rest in the description.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import msgspec
from msgspec import Raw

from engine.translations.neutral.json_members import NULL, OBJECT, TextCache, decode, with_values
from engine.translations.neutral.request import Tool
from engine.values.json_pointer import path_of
from engine.values.trees import Json

NO_ARGUMENTS = {"type": "object", "properties": {}}

_APPLICATORS = ("allOf", "anyOf", "oneOf")
ALTERNATIVES = frozenset((*_APPLICATORS, "enum", "not", "if", "then", "else"))
"""The keywords that may not stand at the top."""


def arguments_schema(tool: Tool) -> Raw | None:
    """The schema of a tool's arguments, None for none. Raises WrongType."""
    if tool.schema is None:
        return None
    schema = _SCHEMAS[bytes(tool.schema)]
    if schema is None:
        decode(OBJECT, tool.schema, tool.place, "a tool whose schema is an object")
    return schema


def _vendor_schema(text: bytes) -> Raw | None:
    """The schema as vendors take it, None if it is not an object."""
    try:
        members = OBJECT.decode(text)
    except msgspec.ValidationError:
        return None
    schema = with_values({key: None if raw == NULL else raw for key, raw in members.items()})
    if not ALTERNATIVES.isdisjoint(schema):
        schema = _flat(with_values(msgspec.json.decode(text)))
    elif "type" in schema and schema == members:
        return Raw(text)
    return Raw(msgspec.json.encode({"type": "object", **schema}))


_SCHEMAS = TextCache(_vendor_schema)


def describe_keywords(description: object, keywords: Json) -> str:
    """A description with the keywords of a schema that only the model can read."""
    words = f"Further keywords of its JSON Schema: {msgspec.json.encode(keywords).decode()}"
    return f"{description}\n\n{words}" if description else words


def _flat(document: Json) -> Json:
    """A schema with the members of its alternatives, which requires what `allOf` requires."""
    rest = {key: document.pop(key) for key in sorted(document.keys() & ALTERNATIVES)}
    properties = {**_properties(document)}
    for part in _alternatives([rest], document, set()):
        for name, schema in _properties(part).items():
            properties.setdefault(name, schema)
    required = dict.fromkeys(_required(document))
    for part in {id(part): part for part in _parts(rest.get("allOf"), document)}.values():
        required.update(dict.fromkeys(_required(part)))
    names = [name for name in required if name in properties]
    members = {**document, "properties": properties} | ({"required": names} if names else {})
    return members | {"description": describe_keywords(document.get("description"), rest)}


def _alternatives(schemas: list[Json], document: Json, seen: set[int]) -> Iterator[Json]:
    """All schemas that these join by their keywords, at any depth."""
    for schema in schemas:
        for part in chain.from_iterable(_parts(schema.get(key), document) for key in _APPLICATORS):
            if id(part) not in seen:
                seen.add(id(part))
                schemas.append(part)
                yield part


def _parts(value: object, document: Json) -> Iterator[Json]:
    """The schemas of a list, with definitions in place of references to them."""
    for part in value if isinstance(value, list) else ():
        reference = part.get("$ref") if isinstance(part, dict) else None
        target = resolved(reference, document) if isinstance(reference, str) else part
        if isinstance(target, dict):
            yield target


def resolved(reference: str, document: object) -> object:
    """The value in a document that a reference leads to, None for one that leads elsewhere."""
    if not reference.startswith("#/"):
        return None
    for step in path_of(reference):
        document = document.get(step) if isinstance(document, dict) else None
    return document


def _properties(schema: Json) -> Json:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: Json) -> list[str]:
    names = schema.get("required")
    return [each for each in names if isinstance(each, str)] if isinstance(names, list) else []

"""The schemas of tools' arguments as OpenAI takes them, those that its models can be held to
(`strict: true`), and the form of an answer. Chat completions have its schema inside of another
member (`nested`).

The vendor refuses a function whose schema is not an object with `properties`, and any array without
`items`; Anthropic and Gemini take both, and servers of tools declare them. Strict ones: its guide
"Structured outputs", section "Supported schemas", November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from engine.translations.neutral.argument_schemas import ALTERNATIVES, arguments_schema
from engine.translations.neutral.json_members import OBJECT, Members, TextCache, value_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, OutputFormat, Tool, any_object
from engine.values.trees import Json

_VALUES = frozenset(("const", "default", "enum", "example", "examples"))
_MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords whose values are schemas by any names, which may be those of keywords."""

_OBJECT, _EMPTY = Raw(b'"object"'), Raw(b"{}")
_DOCUMENT = Decoder(Json)


def write_parameters(tool: Tool) -> Raw | None:
    """The schema of a tool's arguments, None for none. Raises WrongType."""
    schema = arguments_schema(tool)
    return None if schema is None else _PARAMETERS[bytes(schema)]


def _parameters(text: bytes) -> Raw:
    members = OBJECT.decode(text)
    if members["type"] == _OBJECT and "properties" not in members:
        text = msgspec.json.encode({"type": _OBJECT, "properties": _EMPTY, **members})
    if b'"array"' in text:
        schema = msgspec.json.decode(text)
        if _complete(schema):
            text = msgspec.json.encode(schema)
    return Raw(text)


_PARAMETERS = TextCache(_parameters)


def _complete(schema: object) -> bool:
    """Let all arrays in a schema have `items`. Returns whether one had none."""
    is_changed = False
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
        if is_array and value.keys().isdisjoint(("items", "prefixItems")):
            value["items"], is_changed = {}, True
        for keyword, inner in value.items():
            if keyword in _MAPS and isinstance(inner, dict):
                pending += inner.values()
            elif keyword not in _VALUES:
                pending.append(inner)
    return is_changed


_NOT_TAKEN = {
    *("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    *("patternProperties", "unevaluatedProperties", "propertyNames", "contains"),
}
_SAY_TYPE = frozenset(("type", "anyOf", "$ref", "enum", "const"))
_STRICT_MAPS = ("properties", "$defs", "definitions")


def is_strict(schema: Raw | None) -> bool:
    """Whether a model can be held to a schema; None is that of a tool without arguments."""
    return schema is not None and _STRICT[bytes(schema)]


def _is_strict(text: bytes) -> bool:
    document = value_of(_DOCUMENT, text)
    if document is None or document.get("type") != "object" or document.keys() & ALTERNATIVES:
        return False
    pending: list[object] = [document]
    while pending:
        each = pending.pop()
        if not isinstance(each, dict) or not _is_taken(each):
            return False
        pending += _inside(each)
    return True


_STRICT = TextCache(_is_strict)


def _is_taken(schema: Json) -> bool:
    """Whether a schema is taken, but for those in it."""
    if schema.keys() & _NOT_TAKEN or not schema.keys() & _SAY_TYPE:
        return False
    properties, required = schema.get("properties"), schema.get("required", [])
    types = schema.get("type")
    if properties is None and "object" not in (types if isinstance(types, list) else [types]):
        return True
    if schema.get("additionalProperties", True) is not False:
        return False
    names = properties if isinstance(properties, dict) else {}
    return isinstance(required, list) and names.keys() <= {
        o for o in required if isinstance(o, str)
    }


def _inside(schema: Json) -> Iterator[object]:
    for name in _STRICT_MAPS:
        if name in schema:
            yield from schema[name].values() if isinstance(schema[name], dict) else (None,)
    if "anyOf" in schema:
        yield from schema["anyOf"] if isinstance(schema["anyOf"], list) else (None,)
    if "items" in schema:
        yield schema["items"]


def read_format(form: Members, request: ChatRequest, *, nested: bool = False) -> None:
    """Read the form of the answer."""
    kind = form.text("type")
    schema = None
    if kind == "json_schema":
        schema = form.members("json_schema") if nested else form
    if schema is not None:
        request.output = read_schema(schema)
    elif kind == "json_object":
        request.output = any_object()
        if (closer := form.raw("schema")) is not None:  # Together, Fireworks, llama.cpp
            request.output = OutputFormat(kind="json_schema", schema=closer)
            request.places["schema"] = form.place_of("schema")
    elif kind != "text":
        raise form.wrong("type", "text, json_object or json_schema")
    if schema is not form:
        form.rest()


def read_schema(form: Members) -> OutputFormat:
    output = OutputFormat(
        kind="json_schema",
        schema=form.raw("schema"),
        name=form.text("name") or "",
        description=form.text("description") or "",
        strict=form.boolean("strict"),
    )
    form.rest()
    return output


def write_format(
    request: ChatRequest, losses: Losses | None = None, *, nested: bool = False
) -> Json | None:
    """None for plain text; without `losses` as the caller wrote it, for an answer."""
    output = request.output
    if output is None:
        return None
    if output.kind == "json" or output.schema is None:
        return {"type": "json_object"}
    schema = write_schema(request, output, losses)
    return {"type": "json_schema", **({"json_schema": schema} if nested else schema)}


def write_schema(request: ChatRequest, output: OutputFormat, losses: Losses | None) -> Json:
    """Its name is a required member. Without `losses` it is as the caller wrote it."""
    members: Json = {"name": output.name or "response"}
    if output.description:
        members["description"] = output.description
    members["schema"] = output.schema
    strict = output.strict
    if losses is not None:
        place = request.places.get("strict", request.place_of("schema"))
        strict = write_strict(strict, output.schema, place, losses)
    return members if strict is None else {**members, "strict": strict}


def write_strict(
    strict: bool | None, schema: Raw | None, place: str, losses: Losses
) -> bool | None:
    """None where a model cannot be held to the schema, which the vendor refuses."""
    if not strict or is_strict(schema):
        return strict
    reason = "an object is open, or does not require all of its properties"
    losses.add(place, reason, hint=True)
    return None

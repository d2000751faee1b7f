"""Mistakes in a document that the standard allows: media types that do not exist, enums that no
value can meet, bounds that exclude each other. Only `modelway check` looks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import distance, near
from engine.spec.document.node import Library
from engine.spec.document.schema_keywords import SUBSCHEMA_LISTS
from engine.values.trees import is_number

MEDIA_TYPE, SCHEMA, PATH = "MW476", "MW477", "MW478"

_MEDIA_TYPES = (
    *("application/json", "application/problem+json", "application/merge-patch+json"),
    *("application/x-www-form-urlencoded", "multipart/form-data", "multipart/mixed"),
    *("application/octet-stream", "application/xml", "application/pdf", "application/zip"),
    *("application/x-ndjson", "application/jsonl", "text/plain", "text/html", "text/csv"),
    *("text/event-stream", "text/xml", "image/png", "image/jpeg", "audio/mpeg", "audio/wav"),
)
_IN_USE = frozenset({"image/jpg", "audio/mp3", "text/json"})
"""Names that are not registered and that callers send all the same."""
_TOP_LEVEL = frozenset(
    {"application", "audio", "font", "haptics", "image", "message", "model", "multipart"}
    | {"text", "video", "example", "chemical", "*"}
)
"""The top-level media types (IANA, and `chemical`, which is in use without registration)."""
_SHORT_FORMS = {
    "json": "application/json",
    "xml": "application/xml",
    "text": "text/plain",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "form-data": "multipart/form-data",
    "html": "text/html",
    "csv": "text/csv",
    "application/www-form-urlencoded": "application/x-www-form-urlencoded",
    "application/form-data": "multipart/form-data",
    "application/form-urlencoded": "application/x-www-form-urlencoded",
}
_FORMATS = frozenset(
    {"date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"}
    | {"uri-reference", "regex", "json-pointer", "byte", "binary", "int32", "int64", "float"}
    | {"double", "password"}
)
_DELIMITED = re.compile(r"/\^.*\$?/[a-z]*|/.+\$/[a-z]*", re.DOTALL)
_BOUNDS = (
    *(("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")),
    ("minProperties", "maxProperties"),
)
_OF_BOUNDS = frozenset({keyword for pair in _BOUNDS for keyword in pair})
_OF_MISTAKES = _OF_BOUNDS | {"$ref", "enum", "default", "format", "pattern", "required"}
"""The keywords of which a schema with a mistake has one."""
_NESTED = (dict, list)
_COLON_VARIABLE = re.compile(r"/:([A-Za-z_]\w*)(?=/|$)")
_MAX_MISTAKES = 50


class Mistake(NamedTuple):
    """A mistake: its path in the document, whether it is a key, its code, message and hint."""

    path: Path
    is_key: bool
    code: str
    message: str
    hint: str


def note_mistakes(library: Library, findings: Findings) -> None:
    """Note the mistakes in a document, at most fifty, each as a warning."""
    value = library.unpacked().document.value
    for count, mistake in enumerate(_mistakes(value)):
        if count == _MAX_MISTAKES:
            return
        source = library.source(library.root, mistake.path)
        note = (Level.WARNING, mistake.code, mistake.message, mistake.hint)
        findings.note(source, mistake.path, *note, key=mistake.is_key)


def _mistakes(document: object) -> Iterator[Mistake]:
    paths = document.get("paths") if isinstance(document, dict) else None
    for path in paths if isinstance(paths, dict) else ():
        if variable := _COLON_VARIABLE.search(str(path)):
            message = f"'{variable[0][1:]}' is plain text: a variable of a path stands in braces"
            yield Mistake(("paths", path), True, PATH, message, f"write {{{variable[1]}}}")
    stack: list[tuple[Path, object]] = [((), document)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            if _is_content(path):
                yield from _media_types(path, value)
            if not _OF_MISTAKES.isdisjoint(value) and not _is_reference(value) and _is_schema(path):
                yield from _of_schema(path, value)
            nested = [item for item in value.items() if isinstance(item[1], _NESTED)]
            has_names = not nested or _is_name(path)
            stack += [((*path, k), v) for k, v in nested if has_names or not _is_free(k)]
        elif isinstance(value, list):
            nested_items = ((i, item) for i, item in enumerate(value) if isinstance(item, _NESTED))
            stack += [((*path, index), item) for index, item in nested_items]


_WITH_CONTENT = frozenset({"responses", "requestBodies", "parameters", "headers"})


def _is_content(path: Path) -> bool:
    """Whether the keys of the mapping at this path are media types."""
    if path[-1:] != ("content",) or path[:2] == ("components", "schemas") or "schema" in path:
        return False
    return path[-2:-1] == ("requestBody",) or (len(path) > 2 and path[-3] in _WITH_CONTENT)


def _is_reference(value: Mapping[str, object]) -> bool:
    """Whether a mapping is nothing but a reference."""
    return len(value) == 1 and isinstance(value.get("$ref"), str)


def _is_free(key: str) -> bool:
    """Whether the value of a key is an example or an extension, whose keys mean nothing here."""
    return key.startswith("x-") or key in ("example", "examples", "default", "enum", "const")


def _is_name(path: Path) -> bool:
    """Whether the keys of the mapping at this path are names."""
    return path[-1:] == ("properties",) and path[-2:-1] != ("properties",)


_HOLDERS = frozenset({"schema", "items", "additionalProperties", "not"})


def _is_schema(path: Path) -> bool:
    """Whether a mapping is a schema, by its path."""
    if len(path) < 2:
        return False
    above, last = path[-2], path[-1]
    if path[:2] == ("components", "schemas") and len(path) == 3:
        return True
    return (
        (last in _HOLDERS and above != "properties")
        or above in SUBSCHEMA_LISTS
        or above == "properties"
    )


def _media_types(path: Path, content: Mapping[str, object]) -> Iterator[Mistake]:
    for name in content:
        plain = str(name).partition(";")[0].strip().casefold()
        likely = _SHORT_FORMS.get(plain) or _near_media_type(plain)
        if likely or not _is_media_type(plain):
            hint = f"did you mean '{likely}'?" if likely else "write type/subtype: application/json"
            message = f"'{name}' is not a media type that callers send"
            yield Mistake((*path, name), True, MEDIA_TYPE, message, hint)


def _is_media_type(name: str) -> bool:
    top, slash, sub = name.partition("/")
    return bool(slash and sub) and (top in _TOP_LEVEL or top.startswith("x-"))


def _near_media_type(name: str) -> str:
    """The media type that a name misspells by a letter or two; "" for a name of its own."""
    if name in _MEDIA_TYPES or name in _IN_USE or "+" in name or "/vnd." in name or "/x-" in name:
        return ""
    top, _, sub = name.partition("/")
    for media_type in _MEDIA_TYPES:
        known_top, _, known_sub = media_type.partition("/")
        same_top, same_sub = top == known_top, sub == known_sub
        if same_sub and not same_top and distance(top, known_top, 2) <= 2:
            return media_type
        if same_top and len(known_sub) > 3 and distance(sub, known_sub, 1) <= 1:
            return media_type if sub != f"{known_sub}s" else ""
    return ""


def _of_schema(path: Path, schema: Mapping[str, object]) -> Iterator[Mistake]:
    if "$ref" in schema and schema["$ref"] is None:
        hint = 'put it in quotes: "#/components/schemas/...", as # begins a comment'
        yield Mistake((*path, "$ref"), True, SCHEMA, "'$ref' is empty", hint)
    if "enum" in schema and (enum := _impossible(schema)):
        at: Path = (*path, "enum", 0)
        message = f"no value of 'enum' is of type {schema['type']}: nothing can meet both"
        yield Mistake(at, False, SCHEMA, message, enum)
    for least, most in _BOUNDS if len(schema.keys() & _OF_BOUNDS) > 1 else ():
        low, high = schema.get(least), schema.get(most)
        if is_number(low) and is_number(high) and low > high:  # type: ignore[operator]
            message = f"'{least}' is more than '{most}': nothing can meet both"
            yield Mistake((*path, least), False, SCHEMA, message, "write the smaller one first")
    if "default" in schema and (limit := _default_beyond(schema)):
        at = (*path, "default")
        yield Mistake(at, False, SCHEMA, "'default' is refused by its own schema", limit)
    if "format" in schema or "pattern" in schema:
        yield from _of_text(path, schema)
    if "required" in schema:
        yield from _of_required(path, schema)


def _default_beyond(schema: Mapping[str, object]) -> str:
    """The keyword that refuses the default of a number or of an `enum`; "" for none."""
    default, values = schema.get("default"), schema.get("enum")
    if isinstance(values, list) and default is not None and default not in values:
        return "write one of its 'enum'"
    low, high = schema.get("minimum"), schema.get("maximum")
    if is_number(default) and is_number(low) and default < low:  # type: ignore[operator]
        return f"write {low} or more"
    if is_number(default) and is_number(high) and default > high:  # type: ignore[operator]
        return f"write {high} or less"
    return ""


def _of_text(path: Path, schema: Mapping[str, object]) -> Iterator[Mistake]:
    format_, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(format_, str) and format_ not in _FORMATS and (likely := _near_format(format_)):
        message = f"'{format_}' is not a known format: it is not checked"
        yield Mistake((*path, "format"), False, SCHEMA, message, f"did you mean '{likely}'?")
    if isinstance(pattern, str) and _DELIMITED.fullmatch(pattern):
        message = "'pattern' asks for a text with slashes: they are part of the expression"
        bare = "write it without the / at its beginning and its end"
        yield Mistake((*path, "pattern"), False, SCHEMA, message, bare)


def _near_format(name: str) -> str:
    plain = re.sub(r"[-_ ]", "", name).casefold()
    exact = [known for known in sorted(_FORMATS) if known.replace("-", "") == plain]
    return exact[0] if exact else ""


def _of_required(path: Path, schema: Mapping[str, object]) -> Iterator[Mistake]:
    names, properties = schema.get("required"), schema.get("properties")
    if not isinstance(names, list) or not isinstance(properties, dict):
        return
    free = [name for name in properties if name not in names]
    for index, name in enumerate(names):
        if isinstance(name, str) and name not in properties and (likely := near(name, free)):
            message = f"'{name}' is required, and there is no such property"
            hint = f"did you mean '{likely}'?"
            yield Mistake((*path, "required", index), False, SCHEMA, message, hint)


_KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool}


def _impossible(schema: Mapping[str, object]) -> str:
    """The hint for an `enum` none of whose values has the type; "" if one has it."""
    kind, values = schema.get("type"), schema.get("enum")
    expected = _KINDS.get(kind) if isinstance(kind, str) else None
    if expected is None or not isinstance(values, list) or not values:
        return ""
    if any(value is None or _is_of(value, kind, expected) for value in values):
        return ""
    return "put its values in quotes" if kind == "string" else "write its values without quotes"


def _is_of(value: Any, kind: object, expected: Any) -> bool:
    if isinstance(value, float) and value.is_integer() and kind == "integer":
        return True
    return isinstance(value, expected) and (kind == "boolean" or not isinstance(value, bool))

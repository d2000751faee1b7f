"""Multipart bodies whose parts have a position in place of a name (`prefixEncoding` and
`itemEncoding` of OpenAPI 3.2): an array of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from engine.spec.bodies.form_bodies import MAX_TEXT
from engine.spec.bodies.multipart import Buffer, Item, boundary_of, parse_items
from engine.spec.document.node import Node
from engine.spec.document.schema_types import (
    Resolve,
    branches,
    is_file,
    items_of,
    kind_of,
    types_of,
)
from engine.spec.parameters.casting import compile_cast
from engine.spec.parameters.parameter_styles import parse_json
from engine.values.errors import Malformed
from engine.values.media_types import body_kind, essence, is_json

ReadBody = Callable[[Buffer, str], list[object]]
"""Reads a body with its Content-Type."""
ReadItem = Callable[[Buffer, Item, str], object]
"""Reads a part of a body; errors begin with the text."""

_NESTED = 2
"""The levels of multipart content in a part that are read; deeper ones are not looked at."""


def compile_items(media: Node) -> ReadBody:
    """The reader of the bodies of a media type or of a nested part. Raises Malformed or
    MultipartError."""
    schema = media.get("schema")
    return _compile(schema.value, media.value, schema.follow, _NESTED)


def _compile(
    schema: object, encodings: Mapping[str, object], resolve: Resolve, levels: int
) -> ReadBody:
    prefix, rest = encodings.get("prefixEncoding"), encodings.get("itemEncoding")
    prefix = prefix if isinstance(prefix, list) else []
    prefixes = [_prefix(node) for node in branches(schema, resolve)]
    count = max(len(prefix), *map(len, prefixes))
    readers = [
        _compile_item(
            _item_schema(schema, index, resolve),
            prefix[index] if index < len(prefix) else rest,
            resolve,
            levels,
        )
        for index in range(count + 1)
    ]

    def read(buffer: Buffer, content_type: str) -> list[object]:
        items = parse_items(buffer, boundary_of(content_type, form=False))
        return [
            readers[min(index, count)](buffer, item, f"part {index + 1}")
            for index, item in enumerate(items)
        ]

    return read


def _prefix(schema: Mapping[str, object]) -> list[object]:
    value = schema.get("prefixItems")
    return value if isinstance(value, list) else []


def _item_schema(schema: object, index: int, resolve: Resolve) -> object:
    """The schema of the item at an index: its own, or that of all further ones."""
    nodes = branches(schema, resolve)
    for node in nodes:
        if index < len(_prefix(node)):
            return _prefix(node)[index]
    further = [{"items": node["items"]} for node in nodes if "items" in node]
    return items_of({"allOf": further}, resolve)


def _compile_item(schema: object, encoding: object, resolve: Resolve, levels: int) -> ReadItem:
    encoding = encoding if isinstance(encoding, Mapping) else {}
    opaque = is_file(schema, resolve) or "any" in types_of(schema, resolve)
    structured = kind_of(schema, resolve) != "primitive" and not opaque
    nested = _compile(schema, encoding, resolve, levels - 1) if levels and structured else None
    check = _compile_check(encoding, resolve)
    default = str(encoding.get("contentType", ""))
    default = essence(default) if "," not in default and "*" not in default else ""
    default = default or ("application/json" if structured else "")
    cast = compile_cast(schema, resolve)

    def read(buffer: Buffer, item: Item, where: str) -> object:
        check(item, where)
        content_type = item.headers.get("content-type", "")
        kind = essence(content_type) or default
        content = bytes(buffer[item.start : item.end])
        if kind.startswith("multipart/") and nested is not None:
            return nested(content, content_type)
        if is_json(kind):
            return parse_json(content, where)
        if opaque or (kind and body_kind(kind) != "text"):
            return ""
        if len(content) > MAX_TEXT:
            raise Malformed(f"{where}: text of more than {MAX_TEXT} bytes")
        try:
            return cast(content.decode())
        except UnicodeDecodeError as error:
            raise Malformed(f"{where}: not valid UTF-8") from error

    return read


def _compile_check(encoding: Mapping[str, object], resolve: Resolve) -> Callable[[Item, str], None]:
    """A function that checks the media type and the headers of a part. Raises Malformed."""
    declared = [essence(name) for name in str(encoding.get("contentType", "")).split(",")]
    declared = [name for name in declared if name]
    headers = encoding.get("headers")
    described = {
        name: resolve(header)
        for name, header in (headers if isinstance(headers, Mapping) else {}).items()
    }
    required = [
        name
        for name, header in described.items()
        if isinstance(header, Mapping) and header.get("required") is True
    ]

    def check(item: Item, where: str) -> None:
        media_type = essence(item.headers.get("content-type", ""))
        if declared and media_type and not any(fnmatchcase(media_type, name) for name in declared):
            raise Malformed(f"{where}: its Content-Type must be {' or '.join(declared)}")
        for name in required:
            if name.lower() not in item.headers:
                raise Malformed(f"{where}: it has no header {name}")

    return check

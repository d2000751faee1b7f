"""Compiles the readers of multipart/form-data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from engine.spec.bodies.form_bodies import MAX_TEXT, Encoding, object_or_text, takes_brackets
from engine.spec.bodies.multipart import Buffer, Part
from engine.spec.document.schema_types import (
    Resolve,
    extra_of,
    is_file,
    items_of,
    kind_of,
    properties_of,
)
from engine.spec.parameters.bracket_names import Tree, split_name, tree_of
from engine.spec.parameters.casting import compile_cast, compile_shape
from engine.spec.parameters.parameter_styles import parse_json
from engine.values.errors import Malformed
from engine.values.media_types import is_json

_SEPARATORS: Final = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|"}
"""The collection formats of Swagger 2.0, which are styles here."""
_Leaf = tuple[Buffer, Part]


def compile_multipart(
    schema: object, encoding: Encoding, resolve: Resolve
) -> Callable[[Buffer, list[Part]], dict[str, object]]:
    """The reader of multipart/form-data bodies, for the parts that `multipart.parse` returns.

    A file (a part with a file name, or a property with a binary schema) is "". A part with a JSON
    content type, its own or that of `encoding`, is parsed; others are UTF-8 text, cast by the
    property's schema. A declared list is always a list; other repeated parts become one. Declared
    lists and objects may come in parts with brackets (`a[]`, `a[b]`). The reader raises Malformed,
    also for text of more than 1 MiB.
    """
    properties = properties_of(schema, resolve)
    readers = {
        name: _compile_part(sub, (encoding or {}).get(name, {}), resolve)
        for name, sub in properties.items()
    }
    nested = {
        name: compile_shape(sub, resolve, lambda node: _compile_part(node, {}, resolve).read)
        for name, sub in properties.items()
        if takes_brackets(kind_of(sub, resolve), (encoding or {}).get(name, {}).get("style"))
    }
    undeclared = _compile_part(extra_of(schema, resolve), {}, resolve)
    return _MultipartReader(readers, nested, undeclared).read


class _MultipartReader(Struct, frozen=True):
    """The readers of a body's parts: `parts` by name, `undeclared` for all other names, `nested`
    for parts with brackets after a name."""

    parts: Mapping[str, _PartReader]
    nested: Mapping[str, Callable[[Tree], object]]
    undeclared: _PartReader

    def read(self, buffer: Buffer, parts: list[Part]) -> dict[str, object]:
        values: dict[str, list[object]] = {}
        trees: dict[str, list[tuple[str, _Leaf]]] = {}
        for part in parts:
            root, brackets = split_name(part.name)
            if brackets and part.name not in self.parts and root in self.nested:
                trees.setdefault(root, []).append((brackets, (buffer, part)))
                continue
            content = self.parts.get(part.name, self.undeclared).read((buffer, part))
            values.setdefault(part.name, []).append(content)
        fields = {
            name: self.parts.get(name, self.undeclared).join(contents)
            for name, contents in values.items()
        }
        for root, leaves in trees.items():
            where = f"form part {root!r}"
            if root in fields:
                raise Malformed(f"{where}: given both as a value and with brackets")
            fields[root] = self.nested[root](tree_of(leaves, where))
        return fields


class _PartReader(Struct, frozen=True):
    """The reader of the parts of one name. `is_flat_list`: an array whose items are not arrays."""

    read: Callable[[_Leaf], object]
    is_array: bool
    is_flat_list: bool

    def join(self, contents: list[object]) -> object:
        """The value of all parts of one name; a single JSON part may hold the whole array."""
        if len(contents) > 1:
            return contents
        is_list = self.is_flat_list and isinstance(contents[0], list)
        return contents if self.is_array and not is_list else contents[0]


def _compile_part(schema: object, encoding: Mapping[str, Any], resolve: Resolve) -> _PartReader:
    is_array = kind_of(schema, resolve) == "array"
    item = items_of(schema, resolve) if is_array else schema
    item_kind = kind_of(item, resolve)
    is_object = item_kind == "object"
    opaque = is_file(schema, resolve) or is_file(item, resolve)
    declared = encoding.get("contentType", "")
    cast = compile_cast(item, resolve)
    separator = _SEPARATORS.get(encoding.get("style", "")) if is_array else None

    def read(leaf: _Leaf) -> object:
        buffer, part = leaf
        json = is_json(declared if part.content_type is None else part.content_type)
        # A browser appends JSON to a form as a Blob, which always has a file name.
        if opaque or (part.filename is not None and not (json and is_object)):
            return ""
        where = f"form part {part.name!r}"
        if part.end - part.start > MAX_TEXT:
            raise Malformed(f"{where}: text of more than {MAX_TEXT} bytes")
        content = bytes(buffer[part.start : part.end])
        if json:
            return parse_json(content, where)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise Malformed(f"{where}: not valid UTF-8") from error
        if separator is not None:
            return [cast(each) for each in text.split(separator)] if text else []
        implied = is_object and not declared and part.content_type is None
        return object_or_text(text, cast) if implied else cast(text)

    return _PartReader(read, is_array, is_flat_list=is_array and item_kind != "array")

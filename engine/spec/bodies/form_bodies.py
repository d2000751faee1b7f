"""Form bodies, read as the object that their schema describes.

Readers are compiled at start-up. The content of files is neither read nor copied: its value is the
empty string.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from engine.exchange.exchange import MISSING
from engine.process.loop_turn import paced_if_many
from engine.spec.bodies.multipart import Buffer, Part
from engine.spec.document.schema_types import (
    Kind,
    Resolve,
    extra_of,
    is_file,
    items_of,
    kind_of,
    properties_of,
    types_of,
)
from engine.spec.document.styles import EMPTY_VALUES
from engine.spec.parameters.bracket_names import Tree, split_name, tree_of
from engine.spec.parameters.casting import Cast, compile_cast, compile_shape
from engine.spec.parameters.parameter_readers import compile_reader, splits_at_commas
from engine.spec.parameters.parameter_styles import Reader, nested_in, parse_json
from engine.spec.parameters.query_string import Query, decode
from engine.values.errors import Malformed
from engine.values.media_types import is_json

MAX_FIELDS: Final = 10_000
MAX_TEXT: Final = 1_048_576
_SEPARATORS: Final = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|"}
"""The collection formats of Swagger 2.0, which are styles here."""

Encoding = Mapping[str, Mapping[str, Any]] | None
_Leaf = tuple[Buffer, Part]


def compile_form(
    schema: object, encoding: Encoding, resolve: Resolve, *, decoded: bool = False
) -> Callable[[bytes], dict[str, object]]:
    """The reader of application/x-www-form-urlencoded bodies.

    A declared property is read by its `encoding`: style and explode (by default form and true), or
    a JSON `contentType`. A list or object without a declared style may also come with brackets
    (`a[b]=x`, `a[]=x`), and an object without any as JSON (OpenAPI 3.1.1, "Encoding the
    x-www-form-urlencoded Media Type"). An undeclared field is text, or a list if repeated.
    `decoded`: percent-encoded commas separate the items of a field as well. The reader raises
    Malformed.
    """
    properties = properties_of(schema, resolve)
    fields = [
        _compile_field(name, sub, (encoding or {}).get(name, {}), resolve, properties, decoded)
        for name, sub in properties.items()
    ]
    names = frozenset(properties).union(*(field.names for field in fields))
    roots = frozenset(field.name for field in fields if field.nested)
    extra = compile_shape(extra_of(schema, resolve), resolve)

    def read(body: bytes) -> dict[str, object]:
        if body.count(b"&") >= MAX_FIELDS:
            raise Malformed(f"form body: more than {MAX_FIELDS} fields")
        query = Query.parse(bytes(body).decode("latin-1"), "form body")
        values = {field.name: field.read(query) for field in fields}
        extra_fields: dict[str, list[str]] = {}
        for name, value in paced_if_many(query.pairs, len(body)):
            if name not in names and split_name(name)[0] not in roots:
                extra_fields.setdefault(name, []).append(
                    decode(value, f"form field {name!r}", plus=True)
                )
        declared_values = {name: value for name, value in values.items() if value is not MISSING}
        return {name: extra([*texts]) for name, texts in extra_fields.items()} | declared_values

    return read


def form_splits_at_commas(schema: object, encoding: Encoding, resolve: Resolve) -> bool:
    """Whether a field of the form holds a list or object in one text, with commas."""
    properties = properties_of(schema, resolve)
    return any(
        name in properties
        and splits_at_commas(
            "form", field.get("style"), field.get("explode"), properties[name], resolve
        )
        for name, field in (encoding or {}).items()
    )


class _Field(Struct, frozen=True):
    """A declared property: its reader, and the names of the body's fields that belong to it."""

    name: str
    read: Reader
    names: frozenset[str]
    nested: bool


def _compile_field(
    name: str,
    schema: object,
    encoding: Mapping[str, Any],
    resolve: Resolve,
    declared: Collection[str],
    decoded: bool,
) -> _Field:
    style, explode, kind = encoding.get("style"), encoding.get("explode"), kind_of(schema, resolve)
    nested = takes_brackets(kind, style)
    is_content = style is None and "explode" not in encoding
    reader = partial(
        compile_reader,
        name=name,
        location="form",
        schema=schema,
        resolve=resolve,
        explode=explode,
        allow_empty_value=encoding.get(EMPTY_VALUES) is True,
        reserved=declared,
    )
    if is_content and is_json(encoding.get("contentType", "")):
        plain = reader(media_type="application/json")
    else:
        splits = decoded and splits_at_commas("form", style, explode, schema, resolve)
        implied = is_content and not encoding.get("contentType")
        leaf = partial(_json_leaf, resolve=resolve) if implied else None
        plain = reader(style=style, decoded=splits, compile_leaf=leaf)
    names = frozenset({name})
    if kind == "object" and style in (None, "form") and encoding.get("explode", True):
        names |= frozenset(properties_of(schema, resolve)) - frozenset(declared)
    if not nested or style == "deepObject":
        return _Field(name, plain, names, nested)
    deep = reader(style="deepObject")

    members = names - {name}

    def plain_or_deep(query: Query) -> object:
        if nested_in(query, name, declared):
            return deep(query)
        if members and query.values(name) and any(map(query.values, members)):
            raise Malformed(f"form field {name!r}: given both as a value and as its members")
        return plain(query)

    return _Field(name, plain_or_deep, names, nested)


def _json_leaf(node: Mapping[str, object], resolve: Resolve) -> Callable[[str], object]:
    """The reader of a text of a value, or of an item of an array: JSON where that is an object and
    no text."""
    item = items_of(node, resolve) if kind_of(node, resolve) == "array" else node
    cast = compile_cast(item, resolve)
    is_text = types_of(item, resolve) & {"string", "any"}
    is_json_object = kind_of(item, resolve) == "object" and not is_text
    return partial(_object_or_text, cast=cast) if is_json_object else cast


def takes_brackets(kind: Kind, style: str | None) -> bool:
    """Whether a property may also come in fields with brackets: `a[]`, `a[b]`.

    Lists and objects may, unless they declare another style: SDKs write them so by default. A field
    whose full name is declared is never part of another one.
    """
    return style == "deepObject" or (style is None and kind != "primitive")


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
        return _object_or_text(text, cast) if implied else cast(text)

    return _PartReader(read, is_array, is_flat_list=is_array and item_kind != "array")


def _object_or_text(text: str, cast: Cast) -> object:
    """JSON is the default for objects (OpenAPI 3.1, "Encoding Object"); else the text is cast, as a
    schema may allow strings too."""
    try:
        return parse_json(text, "")
    except Malformed:
        return cast(text)

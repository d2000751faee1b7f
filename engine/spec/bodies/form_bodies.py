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
from engine.spec.document.schema_types import (
    Kind,
    Resolve,
    extra_of,
    items_of,
    kind_of,
    properties_of,
    types_of,
)
from engine.spec.document.styles import EMPTY_VALUES
from engine.spec.parameters.bracket_names import split_name
from engine.spec.parameters.casting import Cast, compile_cast, compile_shape
from engine.spec.parameters.parameter_readers import compile_reader, splits_at_commas
from engine.spec.parameters.parameter_styles import Reader, nested_in, parse_json
from engine.spec.parameters.query_string import Query, decode
from engine.values.errors import Malformed
from engine.values.media_types import is_json

MAX_FIELDS: Final = 10_000
MAX_TEXT: Final = 1_048_576

Encoding = Mapping[str, Mapping[str, Any]] | None


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
    read = _plain_or_deep(name, names - {name}, declared, plain, reader(style="deepObject"))
    return _Field(name, read, names, nested)


def _plain_or_deep(
    name: str, members: Collection[str], declared: Collection[str], plain: Reader, deep: Reader
) -> Reader:
    """The reader of a field that may come in fields with brackets, or, if it has `members`, in
    fields of these names."""

    def read(query: Query) -> object:
        if nested_in(query, name, declared):
            return deep(query)
        if members and query.values(name) and any(map(query.values, members)):
            raise Malformed(f"form field {name!r}: given both as a value and as its members")
        return plain(query)

    return read


def _json_leaf(node: Mapping[str, object], resolve: Resolve) -> Callable[[str], object]:
    """The reader of a text of a value, or of an item of an array: JSON where that is an object and
    no text."""
    item = items_of(node, resolve) if kind_of(node, resolve) == "array" else node
    cast = compile_cast(item, resolve)
    is_text = types_of(item, resolve) & {"string", "any"}
    is_json_object = kind_of(item, resolve) == "object" and not is_text
    return partial(object_or_text, cast=cast) if is_json_object else cast


def takes_brackets(kind: Kind, style: str | None) -> bool:
    """Whether a property may also come in fields with brackets: `a[]`, `a[b]`.

    Lists and objects may, unless they declare another style: SDKs write them so by default. A field
    whose full name is declared is never part of another one.
    """
    return style == "deepObject" or (style is None and kind != "primitive")


def object_or_text(text: str, cast: Cast) -> object:
    """JSON is the default for objects (OpenAPI 3.1, "Encoding Object"); else the text is cast, as a
    schema may allow strings too."""
    try:
        return parse_json(text, "")
    except Malformed:
        return cast(text)

"""Parameter readers: every style of OpenAPI 3.0 and 3.1, compiled to functions at start-up.

Sources are text as in WSGI: bytes decoded as Latin-1, still percent-encoded (RFC 6570; OpenAPI
3.1.1, "Style Examples"). Headers are not percent-decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial

from engine.spec.document.schema_types import Resolve, items_of, kind_of, properties_of, types_of
from engine.spec.document.styles import STYLES
from engine.spec.parameters.casting import CompileLeaf, compile_cast, compile_shape
from engine.spec.parameters.parameter_styles import (
    Clean,
    FindTexts,
    Pairs,
    ParameterText,
    Reader,
    Split,
    content_reader,
    deep_reader,
    exploded_reader,
    list_reader,
    object_reader,
    or_missing,
    parse_json,
)
from engine.spec.parameters.query_string import Query, decode
from engine.values.errors import Malformed
from engine.values.media_types import essence, is_json

_DELIMITERS = {
    "spaceDelimited": re.compile(r" |\+|%20"),
    "pipeDelimited": re.compile(r"\||%7[Cc]"),
    "csv": re.compile(","),
    "ssv": re.compile(r" |\+|%20"),
    "tsv": re.compile(r"\t|%09"),
    "pipes": re.compile(r"\||%7[Cc]"),
}
_MAX_NESTED = 8


Source = Query | str | None


def compile_reader(
    *,
    name: str,
    location: str,
    schema: object,
    resolve: Resolve,
    style: str | None = None,
    explode: bool | None = None,
    media_type: str | None = None,
    allow_empty_value: bool = False,
    reserved: Collection[str] = (),
    decoded: bool = False,
    has_bare: bool = True,
    compile_leaf: CompileLeaf | None = None,
) -> Reader:
    """A function that reads the parameter's value, or MISSING, from a request's Source.

    The Source depends on `location`: for path, the raw template variable (with its leading "." or
    ";name="); for query and form (a field of a form body), a Query; for header and cookie, the raw
    header or None. A `media_type` means a `content` parameter. Objects ignore `reserved` names,
    which belong to other parameters. `decoded`: percent-encoded commas separate as well (see
    `splits_at_commas`). `has_bare`: see `deep_reader`; `compile_leaf`: see `compile_shape`. Readers
    raise Malformed.
    Raises ValueError for an unknown location, a style that it does not have, and content that is
    not read.
    """
    text = _text(name, location, style, explode)
    if media_type is not None:
        return content_reader(text, _content_parser(media_type, schema, resolve, text.where))
    if decoded:
        text = text.decoded()
    shape, kind = compile_shape(schema, resolve, compile_leaf), kind_of(schema, resolve)
    if text.style == "deepObject":
        return deep_reader(text, shape, reserved, has_bare=has_bare)
    if kind == "object" and text.explode:
        names = frozenset(properties_of(schema, resolve)) - frozenset(reserved)
        return exploded_reader(text, _pairs(text, names), shape)
    split = _splitter(text)
    if kind == "object" and split is not None:
        return object_reader(text, split, shape)
    read = list_reader(
        text, None if kind == "primitive" else split, shape, _inner_splits(schema, resolve)
    )
    may_be_empty = allow_empty_value and not types_of(schema, resolve) & {"string", "any"}
    return or_missing(text, read) if may_be_empty and shape([""]) == "" else read


def _content_parser(
    media_type: str, schema: object, resolve: Resolve, where: str
) -> Callable[[str], object]:
    """What parses a `content` parameter: JSON, also under a range of media types if the schema has
    objects or lists; anything else is text, cast to the type of the schema. Raises ValueError for
    an object or list of a media type that is not read."""
    if is_json(media_type):
        return partial(parse_json, where=where)
    if not types_of(schema, resolve) <= {"array", "object", "null"}:
        return compile_cast(schema, resolve)
    if not essence(media_type).endswith("*"):
        raise ValueError(f"a list or object of '{media_type}' is not read")
    return partial(parse_json, where=where)


def _text(name: str, location: str, style: str | None, explode: bool | None) -> ParameterText:
    style, explode = style_of(location, style, explode)
    where = f"form field {name!r}" if location == "form" else f"{location} parameter {name!r}"
    find = _values(location, style, name, where)
    return ParameterText(
        name, location, style, explode, where, find, _cleaner(location, style, where)
    )


def style_of(location: str, style: str | None, explode: bool | None) -> tuple[str, bool]:
    """The style of a parameter and whether it explodes, with the defaults of OpenAPI. Raises
    ValueError for an unknown location or a style that it does not have."""
    style = _style(style, location)
    return style, style in ("form", "cookie") if explode is None else explode


def splits_at_commas(
    location: str, style: str | None, explode: bool | None, schema: object, resolve: Resolve
) -> bool:
    """Whether a parameter is a list or object in one comma-separated text.

    By the standard an encoded comma is data, but common URL builders encode every comma. Headers
    are not percent-encoded.
    """
    style = _style(style, location)
    explode = style == "form" if explode is None else explode
    if location == "header" or kind_of(schema, resolve) == "primitive":
        return False
    return style == "simple" or (style in ("form", "csv", "label", "matrix") and not explode)


def _inner_splits(schema: object, resolve: Resolve) -> list[Split]:
    """How the items of a list are split that are lists themselves, as only Swagger 2.0 says."""
    splits: list[Split] = []
    item = items_of(schema, resolve)
    while len(splits) < _MAX_NESTED and isinstance(item, Mapping):
        delimiter = _DELIMITERS.get(str(item.get("collectionFormat")))
        if delimiter is None:
            break
        splits.append(delimiter.split)
        item = items_of(item, resolve)
    return splits


def _style(style: str | None, location: str) -> str:
    styles = STYLES.get(location, ())
    if not styles:
        raise ValueError(
            f"{location!r} is not a location of parameters; write path, query, header or cookie"
        )
    if style is not None and style not in styles:
        raise ValueError(f"{location} has no style {style!r}; write {' or '.join(styles)}")
    return style or styles[0]


def _cleaner(location: str, style: str, where: str) -> Clean:
    """A function that decodes a text; headers, and cookies of the style `cookie`, have no
    percent-encoding."""
    if location == "header":
        return str.strip
    if style == "cookie":
        return str
    plus = location in ("query", "form")
    return lambda text: decode(text, where, plus=plus)


def _values(location: str, style: str, name: str, where: str) -> FindTexts:
    """A function that finds the undecoded texts with the parameter's name; none if it is absent."""
    if location in ("query", "form"):
        return lambda query: query.values(name)
    if location == "cookie":
        return lambda raw: [value for cookie, value in cookies(raw) if cookie == name]
    if style == "matrix":
        return lambda raw: [value for _, value in _matrix(raw, where, only=name)]
    if style == "label":
        return lambda raw: [_after(".", raw, where)]
    return lambda raw: [] if raw is None else [raw]


def _pairs(text: ParameterText, names: frozenset[str]) -> Pairs:
    """A function that finds the properties of an exploded object; None if it is absent."""
    where, clean = text.where, text.clean
    if text.location in ("query", "form"):
        return lambda query: [pair for pair in query.pairs if pair[0] in names] or None
    if text.location == "cookie":
        # RFC 6570 writes "a=1&b=2" into one cookie, clients send one cookie each.
        separator = ";" if text.style == "cookie" else "[;&]"
        return lambda raw: [pair for pair in cookies(raw, separator) if pair[0] in names] or None
    if text.style == "matrix":
        return lambda raw: _matrix(raw, where)
    if text.style == "label":
        return lambda raw: _name_value_pairs(_after(".", raw, where).split("."), clean, where)

    def from_list(source: Source) -> list[tuple[str, str]] | None:
        texts = text.find(source)
        return _name_value_pairs(texts[0].split(","), clean, where) if texts else None

    return from_list


def cookies(raw: str | None, separator: str = ";") -> list[tuple[str, str]]:
    """The names and undecoded values of a Cookie header; text without `=` is ignored. `separator`
    is a pattern."""
    parts = (part.strip().partition("=") for part in re.split(separator, raw or ""))
    return [(name, value) for name, equals, value in parts if equals]


def _matrix(raw: str, where: str, only: str | None = None) -> list[tuple[str, str]]:
    parts = (part.partition("=") for part in _after(";", raw, where).split(";"))
    pairs = [(decode(name, where), value) for name, _, value in parts]
    if only is not None and any(name != only for name, _ in pairs):
        raise Malformed(f"{where}: must be written ;{only}=value")
    return pairs


def _after(mark: str, raw: str, where: str) -> str:
    if not raw.startswith(mark):
        raise Malformed(f"{where}: must begin with {mark!r}")
    return raw[1:]


def _name_value_pairs(parts: list[str], clean: Clean, where: str) -> list[tuple[str, str]]:
    """The pairs of `["R=100", "G=200"]`; `[""]` has none."""
    if parts == [""]:
        return []
    if not all("=" in part for part in parts):
        raise Malformed(f"{where}: must be written name=value")
    return [(clean(name), value) for name, _, value in (part.partition("=") for part in parts)]


def _splitter(text: ParameterText) -> Split | None:
    """A function that splits a text into items; None if each item repeats the name."""
    explode = text.explode
    if text.style == "cookie":
        return None if explode else lambda value: value.split(",")
    if text.location == "cookie" and explode:
        return lambda value: value.split(f"&{text.name}=")
    if text.style == "label":
        # RFC 6570 and OpenAPI 3.1.1 put commas between the items, the table of 3.0 and 3.1.0 dots.
        return lambda value: value.split("," if "," in value and not explode else ".")
    if text.style == "simple" or not explode:
        delimiter = _DELIMITERS.get(text.style)
        return delimiter.split if delimiter else lambda value: value.split(",")
    return None

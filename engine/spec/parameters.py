"""Parameter readers: every style of OpenAPI 3.0 and 3.1, compiled to functions at start-up.

The sources are text as WSGI has it, latin-1 standing for the bytes on the wire, still
percent-encoded. Delimiters are split before decoding, so that an encoded comma is data
(RFC 6570; OpenAPI 3.1.1, "Style Examples"). Headers are taken as they stand.

Longer than most modules: the styles share their few steps (find, split, decode, shape), and a
reader can only be checked against the others with all of them on one page.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import orjson

from engine.spec.casting import (
    Malformed,
    Resolve,
    Tree,
    compile_shape,
    kind_of,
    properties_of,
    types_of,
)

__all__ = ["MISSING", "Malformed", "Query", "Reader", "Source", "compile_reader", "decode"]


class Missing(enum.Enum):
    MISSING = "missing"


MISSING: Final = Missing.MISSING
MAX_DEPTH: Final = 16
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_BRACKETS = re.compile(r"(?:\[[^\[\]]*\])+")
# Names that change every object in a JavaScript upstream; no API has a field of that name.
_ABUSED = frozenset({"__proto__", "constructor", "prototype"})
_DELIMITERS = {
    "spaceDelimited": re.compile(r" |\+|%20"),
    "pipeDelimited": re.compile(r"\||%7[Cc]"),
}
_QUERY_STYLES = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
# The first style is the default.
_STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": _QUERY_STYLES,
    "form": _QUERY_STYLES,
    "header": ("simple",),
    "cookie": ("form",),
}


def decode(text: str, where: str, *, plus: bool = False) -> str:
    """Percent-decoded UTF-8, "+" a space if `plus`; raises Malformed, beginning with `where`."""
    if plus:
        text = text.replace("+", " ")
    if "%" not in text and text.isascii():
        return text
    if bad := _BAD_ESCAPE.search(text):
        raise Malformed(
            f"{where}: no two hexadecimal digits after the % at character {bad.start() + 1}"
        )
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeError as error:
        raise Malformed(f"{where}: not valid UTF-8") from error


def parse_json(text: str | bytes, where: str) -> object:
    """The JSON value; raises Malformed."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{where}: not valid JSON: {error}") from error


def is_json(media_type: str) -> bool:
    """Whether a media type, with or without parameters, is JSON (RFC 6839: `+json` too)."""
    essence = media_type.partition(";")[0].strip().lower()
    return essence == "application/json" or essence.endswith("+json")


class Query:
    """A query string, split once per request: `pairs` of decoded name and undecoded value."""

    __slots__ = ("_nested", "_segments", "_values", "pairs", "raw")

    def __init__(self, raw: str, where: str) -> None:
        self.raw = raw
        self.pairs: list[tuple[str, str]] = []
        self._segments: list[tuple[str | None, str]] = []
        self._values: dict[str, list[str]] = {}
        self._nested: dict[str, list[tuple[str, str]]] = {}
        for segment in raw.split("&"):
            if not segment:
                self._segments.append((None, segment))
                continue
            coded, _, value = segment.partition("=")
            name = decode(coded, where, plus=True)
            self._segments.append((name, segment))
            self.pairs.append((name, value))
            self._values.setdefault(name, []).append(value)
            if "[" in name:
                root, _, rest = name.partition("[")
                self._nested.setdefault(root, []).append(("[" + rest, value))

    @classmethod
    def parse(cls, raw: str, where: str = "query string") -> Query:
        """Split `raw`, without its "?"; raises Malformed for a name that cannot be decoded."""
        return cls(raw, where)

    def names(self) -> list[str]:
        """The decoded names in order, a repeated one as often as it stands there."""
        return [name for name, _ in self.pairs]

    def items(self) -> list[tuple[str, str]]:
        """Every name and value in order, both decoded; raises Malformed."""
        return [
            (name, decode(value, f"query parameter {name!r}", plus=True))
            for name, value in self.pairs
        ]

    def get(self, name: str) -> str | None:
        """The first value under `name`, decoded; raises Malformed."""
        values = self._values.get(name)
        return decode(values[0], f"query parameter {name!r}", plus=True) if values else None

    def values(self, name: str) -> list[str]:
        """Every value under exactly this name, undecoded."""
        return self._values.get(name, [])

    def nested(self, name: str) -> list[tuple[str, str]]:
        """`("[a][b]", value)` of every parameter `name[a][b]`, the value undecoded."""
        return self._nested.get(name, [])

    def without(self, names: Collection[str]) -> str:
        """The raw query string without these parameters, every other byte unchanged."""
        return "&".join(segment for name, segment in self._segments if name not in names)

    def replace(self, name: str, value: str) -> str:
        """The raw query string with one `name=value`, every other byte unchanged.

        It stands where the first one stood, or at the end; repetitions are taken out, so that
        no second reader finds an old value.
        """
        coded = quote(value, safe="")
        kept: list[str] = []
        placed = False
        for known, segment in self._segments:
            if known != name:
                kept.append(segment)
            elif not placed:
                kept.append(f"{segment.partition('=')[0]}={coded}")
                placed = True
        if placed:
            return "&".join(kept)
        added = f"{quote(name, safe='')}={coded}"
        return f"{self.raw}&{added}" if self.raw else added


Source = Query | str | None
Reader = Callable[[Any], object]  # from the Source of its location
_Found = Callable[[Any], list[str]]
_Pairs = Callable[[Any], list[tuple[str, str]] | None]
_Split = Callable[[str], list[str]]
_Clean = Callable[[str], str]
_Shape = Callable[[Tree], object]


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
) -> Reader:
    """The function from a request's Source to the parameter's value, or MISSING.

    `location` says what the Source is: path, the raw template variable (with its leading "." or
    ";name="); query, or form for a field of a form body, a Query; header and cookie, the raw
    header or None. A `media_type` means a `content` parameter. `reserved` names belong to other
    parameters: an exploded object leaves them alone. Readers raise Malformed.
    Raises ValueError for an unknown location or a style that it does not have.
    """
    style = _style(style, location)
    explode = style == "form" if explode is None else explode
    where = f"form field {name!r}" if location == "form" else f"{location} parameter {name!r}"
    clean = _cleaner(location, where)
    found = _values(location, style, name, where)
    if media_type is not None:
        return _content_reader(found, clean, media_type, where)
    shape = compile_shape(schema, resolve)
    kind = kind_of(schema, resolve)
    if style == "deepObject":
        return _deep_reader(name, clean, shape, where)
    if kind == "object" and explode:
        wanted = frozenset(properties_of(schema, resolve)) - frozenset(reserved)
        return _exploded_reader(_pairs(location, style, wanted, clean, where), found, clean, shape)
    split = _split_cookie(name) if location == "cookie" and explode else _splitter(style, explode)
    if kind == "object" and split is not None:
        return _object_reader(found, split, clean, shape, where)
    read = _list_reader(found, None if kind == "primitive" else split, clean, shape)
    leaves_out = allow_empty_value and not types_of(schema, resolve) & {"string", "any"}
    return _or_missing(found, read) if leaves_out and shape([""]) == "" else read


def _style(style: str | None, location: str) -> str:
    styles = _STYLES.get(location, ())
    if not styles:
        raise ValueError(f"parameters cannot stand in {location!r}")
    if style is not None and style not in styles:
        raise ValueError(f"style {style!r} is not for {location}: {', '.join(styles)}")
    return style or styles[0]


def _cleaner(location: str, where: str) -> _Clean:
    if location == "header":
        return str.strip
    plus = location in ("query", "form")
    return lambda text: decode(text, where, plus=plus)


def _values(location: str, style: str, name: str, where: str) -> _Found:
    """How to find the undecoded texts under the parameter's own name; none if it is absent."""
    if location in ("query", "form"):
        return lambda query: query.values(name)
    if location == "cookie":
        return lambda raw: [value for known, value in _cookies(raw) if known == name]
    if style == "matrix":
        return lambda raw: [value for _, value in _matrix(raw, where, only=name)]
    if style == "label":
        return lambda raw: [_after(".", raw, where)]
    return lambda raw: [] if raw is None else [raw]


def _pairs(location: str, style: str, wanted: frozenset[str], clean: _Clean, where: str) -> _Pairs:
    """How to find the properties of an exploded object; None if the parameter is absent."""
    if location in ("query", "form"):
        return lambda query: [pair for pair in query.pairs if pair[0] in wanted] or None
    if location == "cookie":
        # RFC 6570 writes "a=1&b=2" into one cookie, clients send one cookie each.
        return lambda raw: [pair for pair in _cookies(raw, "[;&]") if pair[0] in wanted] or None
    if style == "matrix":
        return lambda raw: _matrix(raw, where)
    if style == "label":
        return lambda raw: _named(_after(".", raw, where).split("."), clean, where)
    return lambda raw: None if raw is None else _named(raw.split(","), clean, where)


def _cookies(raw: str | None, between: str = ";") -> list[tuple[str, str]]:
    parts = (part.strip().partition("=") for part in re.split(between, raw or ""))
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


def _named(parts: list[str], clean: _Clean, where: str) -> list[tuple[str, str]]:
    """The pairs of `["R=100", "G=200"]`; `[""]` has none."""
    if parts == [""]:
        return []
    if not all("=" in part for part in parts):
        raise Malformed(f"{where}: must be written name=value")
    return [(clean(name), value) for name, _, value in (part.partition("=") for part in parts)]


def _splitter(style: str, explode: bool) -> _Split | None:
    """How one text falls into items; None where every item stands under its own name."""
    if style == "label":
        # RFC 6570 and OpenAPI 3.1.1 put commas between the items, the table of 3.0 and 3.1.0 dots.
        return lambda text: text.split("," if "," in text and not explode else ".")
    if style == "simple" or not explode:
        delimiter = _DELIMITERS.get(style)
        return delimiter.split if delimiter else lambda text: text.split(",")
    return None


def _split_cookie(name: str) -> _Split:
    return lambda text: text.split(f"&{name}=")


def _list_reader(found: _Found, split: _Split | None, clean: _Clean, shape: _Shape) -> Reader:
    """Primitives and arrays: all texts under the name, split or not."""

    def read(source: Any) -> object:
        if not (texts := found(source)):
            return MISSING
        if split is not None:
            texts = [part for text in texts for part in split(text)]
        return shape([clean(text) for text in texts])

    return read


def _or_missing(found: _Found, read: Reader) -> Reader:
    """The empty text stands for a parameter left out (OpenAPI 3.1.1, allowEmptyValue)."""
    return lambda source: MISSING if found(source) == [""] else read(source)


def _object_reader(
    found: _Found, split: _Split, clean: _Clean, shape: _Shape, where: str
) -> Reader:
    """Objects not exploded: `R,100,G,200`; also a plain value, for schemas that allow it."""

    def read(source: Any) -> object:
        if not (texts := found(source)):
            return MISSING
        parts = [part for text in texts for part in split(text)]
        if parts == [""]:
            return shape({})
        if len(parts) == 1:
            return shape([clean(parts[0])])
        if len(parts) % 2:
            raise Malformed(f"{where}: must be written name,value,name,value")
        names = map(clean, parts[::2])
        return shape(_grouped(zip(names, parts[1::2], strict=True), clean))

    return read


def _exploded_reader(pairs: _Pairs, found: _Found, clean: _Clean, shape: _Shape) -> Reader:
    """Exploded objects; where none of the properties is there, a plain value of that name."""

    def read(source: Any) -> object:
        if (there := pairs(source)) is not None:
            return shape(_grouped(there, clean))
        texts = found(source)
        return shape([clean(text) for text in texts]) if texts else MISSING

    return read


def _grouped(pairs: Iterable[tuple[str, str]], clean: _Clean) -> Tree:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(clean(value))
    return {**grouped}


def _deep_reader(name: str, clean: _Clean, shape: _Shape, where: str) -> Reader:
    """deepObject: `name[a][b]=x`; also a bare `name=x`, for schemas that allow it."""

    def read(query: Query) -> object:
        nested, bare = query.nested(name), query.values(name)
        if not nested:
            return shape([clean(text) for text in bare]) if bare else MISSING
        if bare:
            raise Malformed(f"{where}: given both as a value and with brackets")
        tree: dict[str, Tree] = {}
        for brackets, value in nested:
            _plant(tree, brackets, clean(value), where)
        try:
            return shape(tree)
        except Malformed as error:
            raise Malformed(f"{where}: {error}") from error

    return read


def _plant(tree: dict[str, Tree], brackets: str, text: str, where: str) -> None:
    """Put one text where its brackets say; every text of one place is kept."""
    if not _BRACKETS.fullmatch(brackets):
        raise Malformed(f"{where}: crooked brackets: {brackets[:80]}")
    keys = brackets[1:-1].split("][")
    if len(keys) > MAX_DEPTH:
        raise Malformed(f"{where}: nested more than {MAX_DEPTH} deep")
    if abused := _ABUSED.intersection(keys):
        raise Malformed(f"{where}: the name {min(abused)!r} is not allowed")
    for key in keys[:-1]:
        branch = tree.setdefault(key, {})
        if isinstance(branch, list):
            raise Malformed(f"{where}: [{key}] is given both as a value and with brackets")
        tree = branch
    leaf = tree.setdefault(keys[-1], [])
    if isinstance(leaf, dict):
        raise Malformed(f"{where}: [{keys[-1]}] is given both as a value and with brackets")
    leaf.append(text)


def _content_reader(found: _Found, clean: _Clean, media_type: str, where: str) -> Reader:
    """Parameters by `content`: JSON is parsed, anything else is the text."""
    parsed = is_json(media_type)

    def read(source: Any) -> object:
        if not (texts := found(source)):
            return MISSING
        if len(texts) > 1:
            raise Malformed(f"{where}: given more than once")
        text = clean(texts[0])
        return parse_json(text, where) if parsed else text

    return read

"""The readers of the styles: texts found and split become a list, an object or a value.

Delimiters are split before decoding, so that an encoded comma is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson

from engine.errors import Malformed
from engine.exchange import MISSING
from engine.spec.query import Query
from engine.spec.shape import Tree

Reader = Callable[[Any], object]  # from the source of its location
Found = Callable[[Any], list[str]]
Pairs = Callable[[Any], list[tuple[str, str]] | None]
Split = Callable[[str], list[str]]
Clean = Callable[[str], str]
Shape = Callable[[Tree], object]

MAX_DEPTH: Final = 16
_BRACKETS = re.compile(r"(?:\[[^\[\]]*\])+")
# Names that change every object in a JavaScript upstream; no API has a field of that name.
_ABUSED = frozenset({"__proto__", "constructor", "prototype"})


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


def list_reader(found: Found, split: Split | None, clean: Clean, shape: Shape) -> Reader:
    """Primitives and arrays: all texts under the name, split or not."""

    def read(source: Any) -> object:
        if not (texts := found(source)):
            return MISSING
        if split is not None:
            texts = [part for text in texts for part in split(text)]
        return shape([clean(text) for text in texts])

    return read


def or_missing(found: Found, read: Reader) -> Reader:
    """The empty text stands for a parameter left out (OpenAPI 3.1.1, allowEmptyValue)."""
    return lambda source: MISSING if found(source) == [""] else read(source)


def object_reader(found: Found, split: Split, clean: Clean, shape: Shape, where: str) -> Reader:
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


def exploded_reader(pairs: Pairs, found: Found, clean: Clean, shape: Shape) -> Reader:
    """Exploded objects; where none of the properties is there, a plain value of that name."""

    def read(source: Any) -> object:
        if (there := pairs(source)) is not None:
            return shape(_grouped(there, clean))
        texts = found(source)
        return shape([clean(text) for text in texts]) if texts else MISSING

    return read


def _grouped(pairs: Iterable[tuple[str, str]], clean: Clean) -> Tree:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(clean(value))
    return {**grouped}


def deep_reader(name: str, clean: Clean, shape: Shape, where: str) -> Reader:
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


def content_reader(found: Found, clean: Clean, media_type: str, where: str) -> Reader:
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

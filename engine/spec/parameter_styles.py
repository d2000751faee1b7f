"""Readers of the parameter styles: texts become a list, an object or a primitive value.

Delimiters are split before decoding, so that an encoded comma is data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import orjson

from engine.exchange.exchange import MISSING
from engine.spec.bracket_names import Tree, tree_of
from engine.spec.media_types import is_json
from engine.spec.query_string import Query
from engine.values.errors import Malformed

Reader = Callable[[Any], object]  # from the source of its location
FindTexts = Callable[[Any], list[str]]
Pairs = Callable[[Any], list[tuple[str, str]] | None]
Split = Callable[[str], list[str]]
Clean = Callable[[str], str]
Shape = Callable[[Tree], object]


def parse_json(text: str | bytes, where: str) -> object:
    """The JSON value; raises Malformed."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{where}: not valid JSON: {error}") from error


def list_reader(find: FindTexts, split: Split | None, clean: Clean, shape: Shape) -> Reader:
    """Primitives and arrays: all texts under the name, split or not."""

    def read(source: Any) -> object:
        if not (texts := find(source)):
            return MISSING
        if split is not None:
            texts = [part for text in texts for part in split(text)]
        return shape([clean(text) for text in texts])

    return read


def or_missing(find: FindTexts, read: Reader) -> Reader:
    """Reads the empty text as an absent parameter (OpenAPI 3.1.1, allowEmptyValue)."""
    return lambda source: MISSING if find(source) == [""] else read(source)


def object_reader(find: FindTexts, split: Split, clean: Clean, shape: Shape, where: str) -> Reader:
    """Objects not exploded: `R,100,G,200`; also a plain value, for schemas that allow it."""

    def read(source: Any) -> object:
        if not (texts := find(source)):
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


def exploded_reader(pairs: Pairs, find: FindTexts, clean: Clean, shape: Shape) -> Reader:
    """Exploded objects; where none of the properties is there, a plain value of that name."""

    def read(source: Any) -> object:
        if (properties := pairs(source)) is not None:
            return shape(_grouped(properties, clean))
        texts = find(source)
        return shape([clean(text) for text in texts]) if texts else MISSING

    return read


def _grouped(pairs: Iterable[tuple[str, str]], clean: Clean) -> Tree:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(clean(value))
    return {**grouped}


def deep_reader(
    name: str, clean: Clean, shape: Shape, where: str, reserved: Collection[str] = ()
) -> Reader:
    """deepObject: `name[a][b]=x`; also a bare `name=x`, for schemas that allow it.

    `reserved` names belong to other parameters, whatever their brackets.
    """

    def read(query: Query) -> object:
        nested, bare = nested_in(query, name, reserved), query.values(name)
        if not nested:
            return shape([clean(text) for text in bare]) if bare else MISSING
        if bare:
            raise Malformed(f"{where}: given both as a value and with brackets")
        tree = tree_of([(brackets, clean(value)) for brackets, value in nested], where)
        try:
            return shape(tree)
        except Malformed as error:
            raise Malformed(f"{where}: {error}") from error

    return read


def nested_in(query: Query, name: str, reserved: Collection[str]) -> list[tuple[str, str]]:
    """The fields `name[...]` that are no parameters of their own."""
    nested = query.nested(name)
    if not nested or not reserved:
        return nested
    return [(brackets, value) for brackets, value in nested if name + brackets not in reserved]


def content_reader(find: FindTexts, clean: Clean, media_type: str, where: str) -> Reader:
    """Parameters by `content`: JSON is parsed, anything else is the text."""
    parsed = is_json(media_type)

    def read(source: Any) -> object:
        if not (texts := find(source)):
            return MISSING
        if len(texts) > 1:
            raise Malformed(f"{where}: given more than once")
        text = clean(texts[0])
        return parse_json(text, where) if parsed else text

    return read

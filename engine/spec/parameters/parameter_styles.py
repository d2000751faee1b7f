"""Readers of the parameter styles: texts become a list, an object or a primitive value.

Delimiters are split before decoding, so that an encoded comma is data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import orjson

from engine.exchange.exchange import MISSING
from engine.spec.parameters.bracket_names import Tree, tree_of
from engine.spec.parameters.query_string import Query
from engine.values.errors import Malformed
from engine.values.json_spans import Ambiguous, refuse_repeated_names

Reader = Callable[[Any], object]  # from the source of its location
FindTexts = Callable[[Any], list[str]]
Clean = Callable[[str], str]
Pairs = Callable[[Any], list[tuple[str, str]] | None]
Split = Callable[[str], list[str]]
Shape = Callable[[Tree], object]

_HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"


class ParameterText(NamedTuple):
    """The location and style of a parameter's text.

    `find` returns the undecoded texts with the parameter's name, none if it is absent; `clean`
    decodes one of them; messages of Malformed begin with `where`.
    """

    name: str
    location: str
    style: str
    explode: bool
    where: str
    find: FindTexts
    clean: Clean

    def values(self, source: Any) -> list[str]:
        """The decoded texts with the parameter's name."""
        return [self.clean(text) for text in self.find(source)]

    def decoded(self) -> ParameterText:
        """The same parameter with its texts decoded before they are split."""
        return self._replace(find=self.values, clean=str)


def parse_json(text: str | bytes, where: str) -> object:
    """The JSON value; raises Malformed, also for an object with a repeated name, of whose values a
    server may read another one than was judged here."""
    try:
        value: object = orjson.loads(text)
        refuse_repeated_names(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{where}: not valid JSON: {error}") from error
    except Ambiguous as error:
        raise Malformed(f"{where}: it {error}") from error
    return value


def list_reader(
    text: ParameterText, split: Split | None, shape: Shape, inner: Sequence[Split] = ()
) -> Reader:
    """Reads primitives and arrays: all texts with the name, split by `split` if it is given, and
    each item by `inner`, whose first is that of the outermost list."""
    clean: Callable[[str], object] = partial(_nested, inner, text.clean) if inner else text.clean

    def read(source: Any) -> object:
        if not (texts := text.find(source)):
            return MISSING
        if split is not None:
            texts = [part for part_list in texts for part in split(part_list)]
        return shape([clean(part) for part in texts])

    return read


def _nested(splits: Sequence[Split], clean: Clean, text: str) -> Tree | str:
    """The items of an item, and theirs."""
    if not splits:
        return clean(text)
    parts: list[object] = [_nested(splits[1:], clean, part) for part in splits[0](text)]
    return parts


def or_missing(text: ParameterText, read: Reader) -> Reader:
    """Reads the empty text as an absent parameter (OpenAPI 3.1.1, allowEmptyValue)."""
    return lambda source: MISSING if text.find(source) == [""] else read(source)


def object_reader(text: ParameterText, split: Split, shape: Shape) -> Reader:
    """Reads objects that are not exploded, `R,100,G,200`, and a plain value, for schemas that allow
    it."""

    def read(source: Any) -> object:
        if not (texts := text.find(source)):
            return MISSING
        parts = [text.clean(part) for part_list in texts for part in split(part_list)]
        if parts == [""]:
            return shape({})
        if len(parts) == 1:
            return shape([*parts])
        if len(parts) % 2:
            raise Malformed(f"{text.where}: must be written name,value,name,value")
        return shape(_group(zip(parts[::2], parts[1::2], strict=True)))

    return read


def exploded_reader(text: ParameterText, pairs: Pairs, shape: Shape) -> Reader:
    """Reads exploded objects; without any of the properties, a plain value of that name."""

    def read(source: Any) -> object:
        if (properties := pairs(source)) is not None:
            return shape(_group((name, text.clean(value)) for name, value in properties))
        values = text.values(source)
        return shape([*values]) if values else MISSING

    return read


def _group(pairs: Iterable[tuple[str, str]]) -> Tree:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {**values}


def deep_reader(
    text: ParameterText, shape: Shape, reserved: Collection[str] = (), *, has_bare: bool = True
) -> Reader:
    """Reads deepObject, `name[a][b]=x`, and a plain `name=x`, for schemas that allow it.

    `reserved` names are those of other parameters, even if they have brackets. `has_bare`: the name
    without brackets is not a property of another parameter.
    """

    def read(query: Query) -> object:
        nested, bare = nested_in(query, text.name, reserved), text.values(query) if has_bare else ()
        if not nested:
            return shape([*bare]) if bare else MISSING
        if bare:
            raise Malformed(f"{text.where}: given both as a value and with brackets")
        tree = tree_of(((name, text.clean(value)) for name, value in nested), text.where)
        try:
            return shape(tree)
        except Malformed as error:
            raise Malformed(f"{text.where}: {error}") from error

    return read


def nested_in(query: Query, name: str, reserved: Collection[str]) -> list[tuple[str, str]]:
    """The fields `name[...]` that are not in `reserved`."""
    nested = query.nested(name)
    if not nested or not reserved:
        return nested
    return [(brackets, value) for brackets, value in nested if name + brackets not in reserved]


def http_date_reader(read: Reader) -> Reader:
    """Reads a date of HTTP as one of ISO 8601. Headers such as If-Modified-Since are written so
    (RFC 9110, 5.6.7), whatever format their document names."""

    def read_date(source: Any) -> object:
        try:
            return datetime.strptime(str(read(source)), _HTTP_DATE).isoformat()
        except ValueError:
            return MISSING

    return read_date


def content_reader(text: ParameterText, parse: Callable[[str], object]) -> Reader:
    """Reads parameters with `content`: `parse` makes the value of the text."""

    def read(source: Any) -> object:
        if not (values := text.values(source)):
            return MISSING
        if len(values) > 1:
            raise Malformed(f"{text.where}: given more than once")
        return parse(values[0])

    return read

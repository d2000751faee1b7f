"""A document whose operations are compiled: its large mappings keep their members as JSON until one
is read.

A parsed document takes ten times the memory of its JSON. Planning reads a member a few times more,
and a gateway only for the console and for the first request of a route with transforms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from itertools import islice
from typing import Any

from engine.spec.document import compact_json
from engine.spec.document.compact_json import dumps
from engine.values.trees import Json

_OF_MEMBERS = ("paths", "webhooks", "components", "definitions", "parameters", "responses")
"""The keys of a document whose members are packed; of `components`, the members of each kind."""


class Packed(dict[str, Any]):
    """A mapping that parses a member each time it is read. What a reader changes in it is lost.

    Code in C that reads a dict without its methods sees the JSON: orjson, and `==` with a dict.
    """

    __slots__ = ()

    def __init__(self, members: Mapping[str, object]) -> None:
        super().__init__((key, dumps(value)) for key, value in members.items())

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Packed:
        """A mapping of members that are JSON already."""
        packed = cls({})
        packed.update(texts)
        return packed

    def __getitem__(self, key: str) -> object:
        return json.loads(super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:  # so that dict() and ** read members by `keys`
        return super().__iter__()

    def values(self) -> Any:
        return ValuesView(self)

    def items(self) -> Any:
        return ItemsView(self)


class ParsedOnce(Packed):
    """A packed mapping that keeps the members that were read: each is always the same object."""

    __slots__ = ("_parsed",)

    def __init__(self, members: Packed) -> None:
        dict.__init__(self, dict.items(members))
        self._parsed: Json = {}

    def __getitem__(self, key: str) -> object:
        if key not in self._parsed:
            self._parsed[key] = super().__getitem__(key)
        return self._parsed[key]


def packed(value: object) -> object:
    """A document of which the large mappings are packed."""
    return _with_mappings(value, _pack)


def _with_mappings(value: object, convert: Callable[[Json], Json]) -> object:
    """A document with each mapping that is packed, or is to be packed, converted."""
    if not isinstance(value, dict):
        return value
    result = dict(value)
    for key in _OF_MEMBERS:
        members = value.get(key)
        if isinstance(members, dict) and key == "components":
            result[key] = {
                kind: convert(each) if isinstance(each, dict) else each
                for kind, each in members.items()
            }
        elif isinstance(members, dict):
            result[key] = convert(members)
    return result


def _pack(members: Json) -> Packed:
    return members if isinstance(members, Packed) else Packed(members)


def unpacked(value: object) -> Any:
    """A document of which no mapping is packed."""
    return _replaced(value, dict)


def parsed_once(value: object) -> object:
    """A document of which each packed mapping keeps what is read of it."""
    return _replaced(value, ParsedOnce)


def separated(value: object) -> tuple[object, list[str]]:
    """A packed document with the names of members in place of these, and their JSON texts."""
    texts: list[str] = []

    def names(members: Json) -> Json:
        texts.extend(dict.values(members))
        return {"names": list(members)}

    return _with_mappings(value, names), texts


def joined(value: object, texts: Sequence[str]) -> object:
    """The packed document of which `separated` has made these. Raises ValueError for others."""
    following = iter(texts)

    def members(entry: Json) -> Packed:
        names = entry["names"]
        return Packed.of(dict(zip(names, islice(following, len(names)), strict=True)))

    return _with_mappings(value, members)


def json_of(value: Any, path: Sequence[str]) -> str:
    """The JSON of the value at a path of a document; a packed member is not parsed. Raises
    KeyError, IndexError, ValueError and TypeError if there is none."""
    for index, step in enumerate(path):
        if isinstance(value, Packed) and index + 1 == len(path):
            return str(dict.__getitem__(value, step))
        value = value[int(step) if isinstance(value, list) else step]
    return dumps(value)


def has_any_key(value: object, keys: tuple[bytes, ...]) -> bool:
    """As `compact_json.has_any_key`, of a document: what is packed is not parsed."""
    texts: list[str] = []

    def collect(members: Packed) -> None:
        texts.extend(dict.values(members))

    names = [key.decode() for key in keys]
    rest = _replaced(value, collect)
    return compact_json.has_any_key(rest, keys) or any(
        name in text for text in texts for name in names
    )


def _replaced(value: object, replacement: Callable[[Packed], object]) -> object:
    """A document with a replacement of each packed mapping."""
    if not isinstance(value, dict):
        return value
    return {
        key: {kind: _replaced_one(each, replacement) for kind, each in members.items()}
        if key == "components" and isinstance(members, dict)
        else _replaced_one(members, replacement)
        for key, members in value.items()
    }


def _replaced_one(members: object, replacement: Callable[[Packed], object]) -> object:
    return replacement(members) if isinstance(members, Packed) else members

"""JSON objects that are read member by member, so that no member is lost silently.

Reading a member removes it; the members that remain at the end are unknown (`rest`). Values that
are passed on keep their JSON text, with number text and key order (`Raw`). A null counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import compress, repeat
from mmap import mmap
from operator import is_not
from typing import TypeVar

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from engine.translations.neutral.content import Extra
from engine.values.trees import Json

_T = TypeVar("_T")

OBJECT: Decoder[dict[str, Raw]] = Decoder(dict[str, Raw])
ITEMS: Decoder[list[Raw]] = Decoder(list[Raw])
NULL = Raw(b"null")
encode = msgspec.json.Encoder().encode
NOT_OF_TYPE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


WHOLE_TEXT = "the JSON text"
"""The place of a value that is the whole text."""


def with_values(members: Json) -> Json:
    values = members.values()
    return dict(compress(members.items(), map(is_not, values, repeat(None))))


class WrongType(ValueError):
    """A member at `place` has another type than its language defines, which is `expected`."""

    def __init__(self, place: str, expected: str) -> None:
        super().__init__(f"'{place}' must be {expected}")
        self.place, self.expected = place, expected


PLACE = re.compile(r" - at `\$\.?(.*)`$")
TYPE = re.compile(r"Expected `(\w+)")
"""Where and what in msgspec's errors: "Expected `str | null`, got `int` - at `$.a[0].b`"."""

_EXPECTED = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def _value(decoder: Decoder[_T], expected: str) -> Callable[[Members, str], _T | None]:
    """A method that reads a member of a type, None for one that is absent. It raises WrongType."""

    def read(members: Members, name: str) -> _T | None:
        raw = members.raw(name)
        return None if raw is None else decode(decoder, raw, members.place_of(name), expected)

    return read


class Members:
    """The members of an object at `place`; `rest` adds the places of others to `unread`."""

    __slots__ = ("_raw", "_unread", "place")

    def __init__(
        self, text: bytes | Raw | dict[str, Raw], place: str = "", unread: list[str] | None = None
    ) -> None:
        self.place = place
        self._unread = [] if unread is None else unread
        if not isinstance(text, dict):
            text = decode(OBJECT, text, place, "an object")
        self._raw = text

    def __contains__(self, name: str) -> bool:
        """Whether a member is there, unread, and not null."""
        return (raw := self._raw.get(name)) is not None and raw != NULL

    def place_of(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def raw(self, name: str) -> Raw | None:
        raw = self._raw.pop(name, None)
        return None if raw is None or raw == NULL else raw

    def is_text(self, name: str) -> bool:
        """Whether a member that is there is a string."""
        raw = self._raw.get(name)
        return raw is not None and bytes(memoryview(raw)[:1]) == b'"'

    text = _value(Decoder(str), "a string")
    texts = _value(Decoder(list[str]), "a list of strings")
    integer = _value(Decoder(int), "a whole number")
    integers = _value(Decoder(list[int]), "whole numbers in a list")
    number = _value(Decoder(float), "a number")
    boolean = _value(Decoder(bool), "true or false")
    items = _value(Decoder(list[Raw]), "a list")
    """Members that may be absent, by their types; the items of a list as JSON texts."""

    def members(self, name: str) -> Members | None:
        raw = self.raw(name)
        return None if raw is None else self.child(raw, self.place_of(name))

    def objects(self, name: str) -> Iterator[Members]:
        """The items of a member that is a list of objects."""
        place = self.place_of(name)
        for index, raw in enumerate(self.items(name) or ()):
            yield self.child(raw, f"{place}[{index}]")

    def child(self, raw: Raw, place: str) -> Members:
        return type(self)(raw, place, self._unread)

    def peek(self, name: str) -> bytes:
        """The JSON text of a member that stays unread; `b""` if it is not there."""
        return bytes(self._raw.get(name, b""))

    def copy(self) -> Extra:
        """The members that were not read yet; they stay unread."""
        return {name: raw for name, raw in self._raw.items() if raw != NULL}

    def rest(self) -> Extra:
        """The members that were not read; their places are noted. Call it last."""
        if not self._raw:
            return {}
        extra = self.copy()
        self._unread.extend(map(self.place_of, extra))
        return extra

    def wrong(self, name: str, expected: str) -> WrongType:
        """The error for a member with a value that its language does not have."""
        return WrongType(self.place_of(name), expected)


def decode(decoder: Decoder[_T], text: bytes | Raw, place: str, expected: str) -> _T:
    """The value of a JSON text at `place` ("" for the whole text). Raises WrongType."""
    try:
        return decoder.decode(text)
    except NOT_OF_TYPE as error:
        raise WrongType(place or WHOLE_TEXT, expected) from error


def value_of(decoder: Decoder[_T], text: bytes | mmap | str | Raw) -> _T | None:
    """The value of a JSON text; None for one of another type."""
    try:
        return decoder.decode(text)
    except NOT_OF_TYPE:
        return None


_MAX_TEXT, _MAX_TEXTS = 20_000, 256


class TextCache(dict[bytes, _T]):
    """What a reader makes of the last short texts: agents declare the same tools each time."""

    def __init__(self, read: Callable[[bytes], _T]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: bytes) -> _T:
        value = self._read(text)
        if len(text) <= _MAX_TEXT:
            if len(self) >= _MAX_TEXTS:
                del self[next(iter(self))]
            self[text] = value
        return value


def on_one_line(text: bytes) -> bytes:
    """A JSON text as the data of an event: a line end in JSON that is passed on would end it."""
    return msgspec.json.format(text, indent=-1) if b"\n" in text or b"\r" in text else text


def read_shape(decoder: Decoder[_T], text: bytes | Raw, place: str = "") -> _T:
    """The value of a JSON text at `place`. Raises WrongType with the place of the first member of
    another type."""
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        raise wrong_type(str(error), place) from error
    except NOT_OF_TYPE as error:
        raise WrongType(place or WHOLE_TEXT, "an object") from error


def wrong_type(message: str, place: str) -> WrongType:
    """The error that msgspec describes, of a text at `place`."""
    path, kind = PLACE.search(message), TYPE.match(message)
    inner = "" if path is None else path[1]
    dot = "." if place and inner and not inner.startswith("[") else ""
    expected = "a smaller number" if kind is None else _EXPECTED.get(kind[1], kind[1])
    return WrongType(f"{place}{dot}{inner}" or WHOLE_TEXT, expected)

"""JSON objects read member by member, so that nothing of them is lost silently.

A member is removed as it is read; what remains at the end was not understood (`rest`). Values that
are passed on keep their text, number text and key order included (`Raw`). A null counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import Extra

_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_ARRAY = msgspec.json.Decoder(list[Raw])
_TEXT = msgspec.json.Decoder(str)
_TEXTS = msgspec.json.Decoder(list[str])
_INTEGER = msgspec.json.Decoder(int)
_NUMBER = msgspec.json.Decoder(float)
_BOOLEAN = msgspec.json.Decoder(bool)
_NULL = b"null"


class WrongType(ValueError):
    """A member has another type than its language says: `place`, and what was `expected`."""

    def __init__(self, place: str, expected: str) -> None:
        super().__init__(f"'{place}' must be {expected}")
        self.place, self.expected = place, expected


class Members:
    """The members of a JSON object at `place` ("" for the whole text).

    `unread` collects the places of members that `rest` returns.
    """

    __slots__ = ("_raw", "_unread", "place")

    def __init__(self, text: bytes | Raw, place: str = "", unread: list[str] | None = None) -> None:
        self.place = place
        self._unread = [] if unread is None else unread
        self._raw: dict[str, Raw] = _decode(_OBJECT, text, place, "an object")

    def __contains__(self, name: str) -> bool:
        """Whether a member is there, unread, and not null."""
        return (raw := self._raw.get(name)) is not None and bytes(raw) != _NULL

    def place_of(self, name: str) -> str:
        """The place of a member: `a.b`."""
        return f"{self.place}.{name}" if self.place else name

    def raw(self, name: str) -> Raw | None:
        """A member's JSON text."""
        raw = self._raw.pop(name, None)
        return None if raw is None or bytes(raw) == _NULL else raw

    def is_text(self, name: str) -> bool:
        """Whether a member that is there is a string."""
        return name in self and bytes(self._raw[name])[:1] == b'"'

    def text(self, name: str) -> str | None:
        """A member that is a string."""
        return self._value(_TEXT, name, "a string")  # type: ignore[no-any-return]

    def texts(self, name: str) -> list[str] | None:
        """A member that is a list of strings."""
        return self._value(_TEXTS, name, "a list of strings")  # type: ignore[no-any-return]

    def integer(self, name: str) -> int | None:
        """A member that is a whole number."""
        return self._value(_INTEGER, name, "a whole number")  # type: ignore[no-any-return]

    def number(self, name: str) -> float | None:
        """A member that is a number."""
        return self._value(_NUMBER, name, "a number")  # type: ignore[no-any-return]

    def boolean(self, name: str) -> bool | None:
        """A member that is true or false."""
        return self._value(_BOOLEAN, name, "true or false")  # type: ignore[no-any-return]

    def members(self, name: str) -> Members | None:
        """A member that is an object."""
        raw = self._take(name)
        return None if raw is None else Members(raw, self.place_of(name), self._unread)

    def items(self, name: str) -> list[Raw] | None:
        """A member that is a list, as the JSON texts of its items."""
        return self._value(_ARRAY, name, "a list")  # type: ignore[no-any-return]

    def objects(self, name: str) -> Iterator[Members]:
        """The items of a member that is a list of objects."""
        place = self.place_of(name)
        for index, raw in enumerate(self.items(name) or ()):
            yield Members(raw, f"{place}[{index}]", self._unread)

    def child(self, raw: Raw, place: str) -> Members:
        """The members of an item of a list in this object."""
        return Members(raw, place, self._unread)

    def peek(self, name: str) -> bytes:
        """The JSON text of a member that stays unread; `b""` if it is not there."""
        return bytes(self._raw.get(name, b""))

    def unread_members(self) -> Extra:
        """The members that were not read, which count as read from now on."""
        extra = {name: raw for name, raw in self._raw.items() if bytes(raw) != _NULL}
        self._raw = {}
        return extra

    def rest(self) -> Extra:
        """The members that were not read; their places are noted. Call it last."""
        extra = {name: raw for name, raw in self._raw.items() if bytes(raw) != _NULL}
        self._unread.extend(map(self.place_of, extra))
        return extra

    def wrong(self, name: str, expected: str) -> WrongType:
        """The error for a member with a value that its language does not have."""
        return WrongType(self.place_of(name), expected)

    def _take(self, name: str) -> Raw | None:
        raw = self._raw.pop(name, None)
        return None if raw is None or bytes(raw) == _NULL else raw

    def _value(self, decoder: msgspec.json.Decoder[Any], name: str, expected: str) -> Any:
        raw = self._take(name)
        return None if raw is None else _decode(decoder, raw, self.place_of(name), expected)


def _decode(
    decoder: msgspec.json.Decoder[Any], text: bytes | Raw, place: str, expected: str
) -> Any:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WrongType(place or "the JSON text", expected) from error

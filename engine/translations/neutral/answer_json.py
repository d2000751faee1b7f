"""What upstreams answer, decoded at once into values of a known shape (`msgspec.Struct`).

Members that a shape does not declare are ignored. Every member is optional and a null counts as
absent. Odd values that cost the answer nothing are forgiven (`Shape`).

A server that counts UTF-16 cuts a character outside of the basic plane into two deltas. Each has
half of its pair, which is no character, and no reader of JSON accepts it: `Surrogates` joins them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from types import UnionType
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.json_members import (
    ITEMS,
    NOT_OF_TYPE,
    NULL,
    OBJECT,
    PLACE,
    WHOLE_TEXT,
    WrongType,
    wrong_type,
)
from engine.values.event_json import amended_json

_T = TypeVar("_T")

_KINDS = re.compile(r"Expected `([^`]*)`")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_MAX_NUMBER = 2**53
MAX_READ = 50_000_000
"""Bytes that the amendments of one text may read anew, which is about a second."""


class Shape(Generic[_T]):
    """The shape of a text that upstreams write. Its members are *needed*, or *optional*:
    passed on if they are well formed, else left out, of a list only those that are not; `""` in
    `optional` is the whole text. Others are *ignored*.

    A value of another type is read as what it says: a number as a text and the other way round, an
    object as the text of its JSON where a text is that of an object (`json_texts`), and as the only
    item where a list belongs, and a text as a part with it in a list of `parts`. An empty one of
    any type counts as absent.

    `decode` reads a text whose members all are of their types; it raises one of NOT_OF_TYPE for any
    other. Readers of streams try it first: of nearly every event it costs no call in Python.
    """

    def __init__(
        self,
        kind: type[_T] | UnionType,
        optional: Collection[str] = (),
        json_texts: Collection[str] = (),
        parts: Collection[str] = (),
    ) -> None:
        decode: Callable[[bytes | Raw], _T] = Decoder(kind).decode
        self.decode = decode
        self._optional, self._json_texts, self._parts = optional, json_texts, parts

        def read(text: bytes | Raw, place: str = "") -> _T:
            try:
                return decode(text)
            except msgspec.ValidationError as error:
                return self._read_odd(Raw(text), place, error)
            except NOT_OF_TYPE as error:
                raise WrongType(place or WHOLE_TEXT, "an object") from error

        self.read: Callable[..., _T] = read
        """Reads a JSON text, which stands at `place` ("" for a text of its own). Raises WrongType
        with the place of the first member that is needed and of another type."""

    def _read_odd(self, text: Raw, place: str, error: msgspec.ValidationError) -> _T:
        for _ in range(MAX_READ // (len(bytes(text)) + 1)):
            path, kinds = PLACE.search(str(error)), _KINDS.match(str(error))
            names = _STEP.findall("" if path is None else path[1])
            steps = [int(index) if index else name for index, name in names]
            try:
                text = self._amend(text, steps, ("" if kinds is None else kinds[1]).split(" | "))
                return self.decode(text)
            except msgspec.ValidationError as another:
                error = another
            except (_CannotAmend, LookupError, *NOT_OF_TYPE):  # LookupError: a member stands twice
                break
        raise wrong_type(str(error), place) from error

    def _amend(self, text: Raw, steps: Sequence[str | int], kinds: Sequence[str]) -> Raw:
        """The text with the value at `steps` as one of these kinds, or without it."""
        is_json = bool(steps) and steps[-1] in self._json_texts
        names = [step for step in steps[-2:] if isinstance(step, str)]
        is_part = bool(names) and names[-1] in self._parts

        def change(raw: Raw) -> Raw | None:
            return (_part_with(raw, kinds) if is_part else None) or _convert(
                raw, kinds, is_json=is_json
            )

        try:
            return _with_change(text, steps, change)
        except _CannotAmend:
            depth = next(
                (at for at, step in enumerate(("", *steps)) if step in self._optional), None
            )
            if depth is None:
                raise
            is_list = isinstance(next(iter(steps[depth:]), None), int)
            return _with_change(text, steps[: depth + is_list], lambda _: None)


class _CannotAmend(Exception):
    """A value says nothing that could stand in its place."""


def _with_change(raw: Raw, steps: Sequence[str | int], change: Callable[[Raw], Raw | None]) -> Raw:
    """A JSON text with the value at `steps` changed, or removed by a change to None."""
    if not steps:
        raise _CannotAmend
    step, *rest = steps
    holder: Any = ITEMS.decode(raw) if isinstance(step, int) else OBJECT.decode(raw)
    value = _with_change(holder[step], rest, change) if rest else change(holder[step])
    if value is None:
        del holder[step]
    else:
        holder[step] = value
    return Raw(msgspec.json.encode(holder))


def _part_with(raw: Raw, kinds: Sequence[str]) -> Raw | None:
    """A text as a part of a content, or as the list of one, and the text of parts where one
    belongs; None for another value."""
    value = msgspec.json.decode(raw)
    if kinds[0] == "str" and "array" not in kinds and (text := _text_in(value)):
        return Raw(msgspec.json.encode(text))
    if not isinstance(value, str) or not value or kinds[0] not in ("object", "array"):
        return None
    part = {"text": value}
    return Raw(msgspec.json.encode(part if kinds[0] == "object" else [part]))


def _convert(raw: Raw, kinds: Sequence[str], *, is_json: bool) -> Raw | None:
    """A value as one of these kinds; None for a blank one. Raises _CannotAmend."""
    value, kind = msgspec.json.decode(raw), kinds[0]
    if kind == "str" and type(value) in (int, float):
        return Raw(b'"%b"' % bytes(raw))
    if is_blank(value):
        return Raw(b"0") if kind in ("int", "float") and type(value) is float else None
    if "array" in kinds and isinstance(value, dict) and (kind == "array" or "text" in value):
        return Raw(b"[%b]" % bytes(raw))
    if kind == "str" and is_json and isinstance(value, dict):
        return Raw(msgspec.json.encode(bytes(raw).decode()))
    if kind == "object" and isinstance(value, list) and len(value) == 1:
        return ITEMS.decode(raw)[0]
    if kind in ("int", "float"):
        return Raw(msgspec.json.encode(_number(value, kind)))
    if kind == "bool" and str(value).lower() in ("true", "false", "1"):
        return Raw(b"false" if value == "false" else b"true")
    raise _CannotAmend


def _text_in(value: object) -> str:
    if isinstance(value, list):
        return "".join(map(_text_in, value))
    text = value.get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _number(value: object, kind: str) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else _MAX_NUMBER
    except (ValueError, OverflowError) as error:
        raise _CannotAmend from error
    if not -_MAX_NUMBER < number < _MAX_NUMBER:
        raise _CannotAmend
    return int(number) if kind == "int" else number


def raw_at(text: bytes | Raw, *steps: str | int) -> Raw:
    """The JSON text of a value inside a text, by names and indexes; null where it is not there."""
    raw = Raw(text)
    for step in steps:
        holder: Any = ITEMS.decode(raw) if isinstance(step, int) else OBJECT.decode(raw)
        try:
            raw = holder[step]
        except LookupError:
            return NULL
    return raw


class TextPiece(Struct):
    """A part of a text, in a list of them."""

    text: str | None = None


def texts_of(pieces: Iterable[TextPiece] | None) -> list[str]:
    return [piece.text or "" for piece in pieces or ()]


def is_blank(value: object) -> bool:
    """Some servers write every member that there is, with empty values where none is meant."""
    return all(map(is_blank, value.values())) if isinstance(value, dict) else not value


def is_end_marker(data: bytes) -> bool:
    """Whether the data of an event is `[DONE]`, as servers write it."""
    return data.strip(b' "[]\t\r').upper() == b"DONE"


_ESCAPE = re.compile(
    rb"\\(?:(?P<first>u[dD][89abAB][0-9a-fA-F]{2})(?P<pair>\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    rb"|(?P<second>u[dD][c-fC-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_UNKNOWN = rb"\ufffd"


class Surrogates:
    """Joins the halves of one stream: the first half of a pair waits for the second."""

    _first = b""

    def amended(self, text: bytes) -> bytes:
        """A text that no reader accepts as one that they accept; itself without such a one."""
        joined = self.joined(text)
        return amended_json(text) if joined == text else joined

    def joined(self, text: bytes) -> bytes:
        """The text with whole pairs. A half without its other is U+FFFD; a first one at the end of
        a string is left out, and stands before a second one of the next text."""
        first, self._first = self._first, b""

        def whole(match: re.Match[bytes]) -> bytes:
            if match["second"]:
                return first + match[0] if first else _UNKNOWN
            if not match["first"] or match["pair"]:
                return match[0]
            if text[match.end() : match.end() + 1] != b'"':
                return _UNKNOWN
            self._first = match[0]
            return b""

        return _ESCAPE.sub(whole, text)

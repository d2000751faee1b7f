"""JSON that is decoded at once into values of a known shape (`msgspec.Struct`).


For values that are only read: members that a shape does not declare are ignored. Every member is
optional and a null counts as absent, as in `Members`; errors are the same as there.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from engine.translations.neutral.members import WHOLE_TEXT, WrongType

_T = TypeVar("_T")

_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_PLACE = re.compile(r" - at `\$\.?(.*)`$")
_TYPE = re.compile(r"Expected `(\w+)")
_EXPECTED = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_IN_BOUNDS = "no number out of all bounds"


def read_shape(decoder: Decoder[_T], text: bytes | Raw, place: str = "") -> _T:
    """The value of a JSON text, which stands at `place` ("" for a text of its own).

    Raises WrongType with the place of the first member of another type.
    """
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        raise _wrong_type(str(error), place) from error
    except _NOT_JSON as error:
        raise WrongType(place or WHOLE_TEXT, "an object") from error


def is_blank(value: Any) -> bool:
    """Whether a JSON value says nothing: some servers write every member that there is, with empty
    values in those that are not meant."""
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    return not value


def _wrong_type(message: str, place: str) -> WrongType:
    """The error that msgspec describes: "Expected `str | null`, got `int` - at `$.a[0].b`"."""
    path, kind = _PLACE.search(message), _TYPE.match(message)
    inner = "" if path is None else path[1]
    dot = "." if place and inner and not inner.startswith("[") else ""
    expected = _IN_BOUNDS if kind is None else _EXPECTED.get(kind[1], kind[1])
    return WrongType(f"{place}{dot}{inner}" or WHOLE_TEXT, expected)

"""Vectors as JSON: a list of numbers, or a base64 string of little-endian float32."""

from __future__ import annotations

import base64
import binascii
import struct

import msgspec
from msgspec import Raw

from engine.translations.neutral.members import WrongType

_NUMBERS = msgspec.json.Decoder(list[float])
_TEXT = msgspec.json.Decoder(str)
_FLOAT = 4


def as_numbers(vector: Raw, place: str) -> Raw:
    """A vector as numbers; one that is a list already keeps its text. Raises WrongType."""
    try:
        if not _is_text(vector):
            _NUMBERS.decode(vector)
            return vector
        packed = base64.b64decode(_TEXT.decode(vector), validate=True)
        numbers = struct.unpack(f"<{len(packed) // _FLOAT}f", packed)
        return Raw(msgspec.json.encode(numbers))
    except (msgspec.DecodeError, binascii.Error, struct.error) as error:
        raise WrongType(place, "a vector") from error


def as_base64(vector: Raw, place: str) -> Raw:
    """A vector as a base64 string; one that is a string already keeps its text. Raises
    WrongType."""
    try:
        if _is_text(vector):
            base64.b64decode(_TEXT.decode(vector), validate=True)
            return vector
        numbers = _NUMBERS.decode(vector)
        packed = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers))
    except (msgspec.DecodeError, binascii.Error, OverflowError) as error:
        raise WrongType(place, "a vector") from error
    return Raw(b'"%b"' % packed)


def _is_text(vector: Raw) -> bool:
    return bytes(memoryview(vector)[:1]) == b'"'

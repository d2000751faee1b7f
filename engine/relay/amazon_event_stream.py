"""`application/vnd.amazon.eventstream`, read sans-IO: bytes in, messages out.

    prelude   length of the message, length of its headers, CRC-32 of these 8 bytes (4 bytes each)
    headers   each: length of the name (1 byte), name, type of the value (1 byte), value
    payload   the rest
    CRC       CRC-32 of everything before it (4 bytes)

All numbers are big-endian. https://smithy.io/2.0/aws/amazon-eventstream.html
"""

from __future__ import annotations

import struct
from typing import NamedTuple
from uuid import UUID
from zlib import crc32

from engine.relay.filter import Unreadable

MEDIA_TYPE = "application/vnd.amazon.eventstream"
MAX_HEADERS = 128 * 1024
"""Bytes of one message's headers."""

MAX_PAYLOAD = 24 * 1024 * 1024
"""Bytes of one message's payload."""

_PRELUDE = struct.Struct("!III")
_CRC = struct.Struct("!I")
_LENGTH = struct.Struct("!H")
_FRAME = _PRELUDE.size + _CRC.size

_TRUE, _FALSE, _BYTES, _TEXT, _UUID = 0, 1, 6, 7, 9
_NUMBERS = {
    2: struct.Struct("!b"),
    3: struct.Struct("!h"),
    4: struct.Struct("!i"),
    5: struct.Struct("!q"),
    8: struct.Struct("!q"),  # a time, in milliseconds since 1970
}

HeaderValue = bool | int | bytes | str | UUID


class BrokenMessage(Unreadable):
    """Bytes that are not a message, or end within one. The text begins with "the upstream's"."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"the upstream's event stream {detail}")


class Message(NamedTuple):
    """One message. Headers give its kind (`:message-type`) and the name of its event."""

    headers: dict[str, HeaderValue]
    payload: bytes

    def text(self, name: str) -> str:
        """The value of a text header; "" if there is none."""
        value = self.headers.get(name)
        return value if isinstance(value, str) else ""


class MessageReader:
    """Reads messages from bytes that may be split anywhere."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._size = 0
        """Bytes of the message at the start of the buffer, 0 until its prelude is read."""

    @property
    def inside(self) -> bool:
        """Whether a message has begun and is not complete."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> None:
        """Add bytes; `next` returns the messages."""
        self._buffer += data

    def next(self) -> Message | None:
        """The next message that is complete. Raises BrokenMessage."""
        buffer = self._buffer
        if not self._size:
            if len(buffer) < _PRELUDE.size:
                return None
            self._size = _checked_size(buffer)
        if len(buffer) < self._size:
            return None
        data = bytes(buffer[: self._size])
        del buffer[: self._size]
        self._size = 0
        return _message(data)


def _checked_size(data: bytearray) -> int:
    """The bytes of the message that begins with this prelude."""
    size, headers, crc = _PRELUDE.unpack_from(data)
    if crc32(data[:8]) != crc:
        raise BrokenMessage("has a message with a wrong checksum of its lengths")
    payload = size - headers - _FRAME
    if headers > MAX_HEADERS:
        raise BrokenMessage(f"has a message with over {MAX_HEADERS} bytes of headers")
    if payload > MAX_PAYLOAD:
        raise BrokenMessage(f"has a message with over {MAX_PAYLOAD} bytes of payload")
    if payload < 0:
        raise BrokenMessage("has a message that is shorter than its headers")
    return int(size)


def _message(data: bytes) -> Message:
    end = len(data) - _CRC.size
    if crc32(memoryview(data)[:end]) != _CRC.unpack_from(data, end)[0]:
        raise BrokenMessage("has a message with a wrong checksum")
    headers_end = _PRELUDE.size + _PRELUDE.unpack_from(data)[1]
    try:
        headers = _headers(data[_PRELUDE.size : headers_end])
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise BrokenMessage("has a message with headers that cannot be read") from error
    return Message(headers, data[headers_end:end])


def _headers(data: bytes) -> dict[str, HeaderValue]:
    """The headers in a header block. Raises IndexError, struct.error or UnicodeDecodeError if it is
    truncated or malformed."""
    headers: dict[str, HeaderValue] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name = data[at + 1 : name_end].decode()
        value, at = _value(data, data[name_end], name_end + 1)
        if name in headers:
            raise BrokenMessage("has a message with two headers of one name")
        headers[name] = value
    return headers


def _value(data: bytes, kind: int, at: int) -> tuple[HeaderValue, int]:
    """The value of type `kind` at index `at`, and the index after it."""
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if (number := _NUMBERS.get(kind)) is not None:
        return int(number.unpack_from(data, at)[0]), at + number.size
    if kind == _UUID:
        return UUID(bytes=_part(data, at, 16)), at + 16
    if kind not in (_BYTES, _TEXT):
        raise BrokenMessage(f"has a header of an unknown type ({kind})")
    start = at + _LENGTH.size
    text = _part(data, start, _LENGTH.unpack_from(data, at)[0])
    return text.decode() if kind == _TEXT else text, start + len(text)


def _part(data: bytes, at: int, size: int) -> bytes:
    part = data[at : at + size]
    if len(part) < size:
        raise IndexError
    return part

"""Decoding of responses that an upstream encodes although the request did not allow it (RFC 9110
8.4.1).

Only gzip and deflate: the standard library of Python 3.11 has neither brotli nor zstd, so responses
in those codings are relayed without reading their usage.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

MAX_DECODED = 16_000_000
"""The most bytes decoded of one response: a small response may decode to gigabytes."""

PIECE = 65_536
"""The most bytes decoded in one step."""
_GZIP_OR_ZLIB = 47  # `wbits` of zlib for the kinds of frames around deflated data
_RAW = -15
_MEMBER = b"\x1f"  # the first byte of a gzip member (RFC 1952 2.3.1)
_CODINGS = ("gzip", "x-gzip", "deflate")
"""What some servers send of these is another one of them."""
GZIP_START = b"\x1f\x8b"
"""The first bytes of a body in gzip, which no text begins with."""
_PLAIN = ("", "identity", "none", "utf-8", "utf8", "binary", "8bit")
"""No coding, also by the names of others' charsets and transfer encodings, which servers write."""


class DecodeError(ValueError):
    """The body is not in the coding of its Content-Encoding, or longer than MAX_DECODED."""


class Decoder:
    """Decodes one response piece by piece, up to MAX_DECODED bytes."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._frame = _GZIP_OR_ZLIB
        self._inflate = zlib.decompressobj(self._frame)
        self._room = MAX_DECODED
        self._started = False

    @property
    def ended(self) -> bool:
        """Whether the encoded data is complete."""
        return self._inflate.eof

    def refill(self) -> None:
        """Allow MAX_DECODED more bytes, where those before are not kept."""
        self._room = MAX_DECODED

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes, in pieces. Raises DecodeError."""
        full = False
        while data or full:
            if self._inflate.eof:
                if data[:1] != _MEMBER:
                    return  # padding after the end
                self._inflate = zlib.decompressobj(self._frame)  # the next member (RFC 1952 2.2)
            piece = self._decode(data)
            self._room -= len(piece)
            if self._room < 0:
                raise DecodeError(f"more than {MAX_DECODED} bytes")
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            full = len(piece) == PIECE and not self._inflate.eof

    def _decode(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, PIECE)
        except zlib.error as error:
            if self._started or self._coding != "deflate":
                raise DecodeError(f"the body is not {self._coding} data") from error
            # Some servers send raw deflate data under this name (RFC 9110 8.4.1.2).
            self._frame = _RAW
            self._inflate = zlib.decompressobj(_RAW)
            self._started = True
            return self._decode(data)
        self._started = True
        return piece


def coding_of(encoding: str) -> str:
    """The coding that the value of a Content-Encoding header names, "" for none."""
    if not encoding:  # nearly always
        return ""
    names = [each.strip() for each in encoding.lower().split(",")]
    return ", ".join(name for name in names if name not in _PLAIN)


def decoder(encoding: str) -> Decoder | None:
    """A decoder for the value of a Content-Encoding header; None for an unsupported coding."""
    coding = coding_of(encoding)
    return Decoder(coding) if coding in _CODINGS else None


def decode_body(encoding: str, data: bytes) -> bytes | None:
    """Decode a complete body; None if it cannot be decoded or is truncated."""
    if not coding_of(encoding):
        return data
    reader = decoder(encoding)
    if reader is None:
        return None
    try:
        text = b"".join(reader.feed(data))
    except DecodeError:
        return None
    return text if reader.ended or not data else None

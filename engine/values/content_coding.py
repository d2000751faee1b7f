"""Content codings (RFC 9110 8.4.1) of answers that came encoded although nobody asked for it.

Only gzip and deflate: the standard library of Python 3.11 has no brotli and no zstd, and an answer
in those is passed on unread.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

MOST = 16_000_000
"""Decoded bytes of one answer that are looked at: a small answer may decode to gigabytes."""

_PIECE = 262_144
_GZIP = 31  # zlib's numbers for the kinds of frame around deflated data
_ZLIB = 15
_RAW = -15
_MEMBER = b"\x1f"  # how a member of a gzip file begins
_FRAMES = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}


class Undecodable(ValueError):
    """An answer that is not what its Content-Encoding says, or longer than MOST."""


class Decoder:
    """Decodes one answer piece by piece: what it gives is at most MOST bytes in all."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._frame = _FRAMES[coding]
        self._inflate = zlib.decompressobj(self._frame)
        self._left = MOST
        self._started = False

    @property
    def ended(self) -> bool:
        """Whether the encoded data has come to its end."""
        return self._inflate.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes, in pieces. Raises Undecodable."""
        full = False
        while data or full:
            if self._inflate.eof:
                if data[:1] != _MEMBER:
                    return  # padding behind the end
                self._inflate = zlib.decompressobj(self._frame)  # of several (RFC 1952 2.2)
            piece = self._decode(data)
            self._left -= len(piece)
            if self._left < 0:
                raise Undecodable(f"more than {MOST} bytes")
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            full = len(piece) == _PIECE and not self._inflate.eof

    def _decode(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, _PIECE)
        except zlib.error as error:
            if self._started or self._coding != "deflate":
                raise Undecodable("not what its Content-Encoding says") from error
            # Some servers send bare deflated data under that name (RFC 9110 8.4.1.2).
            self._frame = _RAW
            self._inflate = zlib.decompressobj(_RAW)
            self._started = True
            return self._decode(data)
        self._started = True
        return piece


def decoder(encoding: str) -> Decoder | None:
    """A decoder for the value of a Content-Encoding header; None for one that cannot be read."""
    coding = encoding.strip().lower()
    return Decoder(coding) if coding in _FRAMES else None


def decoded(encoding: str, data: bytes) -> bytes | None:
    """A whole body decoded; None where it cannot be, or is cut short."""
    if encoding.strip().lower() in ("", "identity"):
        return data
    reader = decoder(encoding)
    if reader is None:
        return None
    try:
        text = b"".join(reader.feed(data))
    except Undecodable:
        return None
    return text if reader.ended or not data else None

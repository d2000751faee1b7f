"""Raw WebSocket frames (RFC 6455), valid and invalid."""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Any, NamedTuple

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
"""The key of RFC 6455 1.3."""

MASK = b"\x9a\x01\x7f\xe3"


class RawFrame(NamedTuple):
    opcode: int
    fin: bool
    data: bytes


def frame(
    opcode: int,
    data: bytes = b"",
    *,
    fin: bool = True,
    mask: bytes | None = None,
    reserved: int = 0,
    size: int | None = None,
) -> bytes:
    """A frame's bytes (RFC 6455 5.2); `size` replaces the length of the data in the head."""
    length = len(data) if size is None else size
    first, bit = (0x80 if fin else 0) | reserved << 4 | opcode, 0x80 if mask else 0
    if length < 126:
        head = struct.pack("!BB", first, bit | length)
    elif length < 65_536:
        head = struct.pack("!BBH", first, bit | 126, length)
    else:
        head = struct.pack("!BBQ", first, bit | 127, length)
    return head + (mask + masked(data, mask) if mask else data)


def masked(data: bytes, mask: bytes) -> bytes:
    repeated = (mask * (len(data) // 4 + 1))[: len(data)]
    number = int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")
    return number.to_bytes(len(data), "big")


def close(code: int | None, reason: bytes = b"") -> bytes:
    """The payload of a close frame."""
    return b"" if code is None else struct.pack("!H", code) + reason


def accept(key: str) -> str:
    """Sec-WebSocket-Accept (RFC 6455 4.2.2)."""
    digest = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return base64.b64encode(digest).decode()


class Peer:
    """One end of a WebSocket on a blocking socket. Only a `client` masks its frames."""

    def __init__(self, sock: Any, *, client: bool, first: bytes = b"") -> None:
        self.sock = sock
        self.mask = MASK if client else None
        self._buffer = first

    def send(self, opcode: int, data: bytes = b"", *, fin: bool = True) -> None:
        self.sock.sendall(frame(opcode, data, fin=fin, mask=self.mask))

    def text(self, text: str) -> None:
        self.send(TEXT, text.encode())

    def close(self, code: int | None = 1000, reason: bytes = b"") -> None:
        self.send(CLOSE, close(code, reason))

    def next(self) -> RawFrame:
        """The next frame. EOFError at the end of the connection, AssertionError for a bad mask."""
        first, second = self._read(2)
        assert bool(second & 0x80) is (self.mask is None), "masked by the wrong side"
        assert not first & 0x70, "reserved bits"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._read(8))
        mask = self._read(4) if second & 0x80 else b""
        data = self._read(length)
        return RawFrame(first & 0x0F, bool(first & 0x80), masked(data, mask) if mask else data)

    def closed(self) -> tuple[int | None, str]:
        """Code and reason of the close frame, which must come next; pings and pongs are skipped."""
        while (next_frame := self.next()).opcode in (PING, PONG):
            pass
        assert next_frame.opcode == CLOSE, next_frame
        if not next_frame.data:
            return None, ""
        return struct.unpack("!H", next_frame.data[:2])[0], next_frame.data[2:].decode()

    def ended(self) -> bytes:
        """Close the connection once the other side has; the data that came before.
        TimeoutError when it does not end."""
        rest, self._buffer = self._buffer, b""
        try:
            while data := self.sock.recv(65_536):
                rest += data
        except ConnectionError:
            pass
        self.sock.close()
        return rest

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            data = self.sock.recv(65_536)
            if not data:
                raise EOFError
            self._buffer += data
        read, self._buffer = self._buffer[:size], self._buffer[size:]
        return read

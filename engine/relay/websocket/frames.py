"""Parses and writes frames (RFC 6455 section 5), without a socket.

The `websockets` library reads and writes the bits. This module checks the order of frames, the
length of messages and the UTF-8 of text, before a frame is passed on. A frame may have megabytes:
the event loop has its turns between the steps over it, each of which takes milliseconds.
"""

from __future__ import annotations

import codecs
import secrets
from collections.abc import Generator, Iterator, Sequence
from functools import lru_cache

from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import CLOSE, CONT, CTRL_OPCODES, TEXT, Close, Frame, Opcode
from websockets.streams import StreamReader
from websockets.typing import BytesLike

from engine.process.loop_turn import await_turn, paced
from engine.relay.websocket.deflate import Inflation, deflate
from engine.values.event_json import LONG_EVENT

try:
    from websockets.speedups import apply_mask
except ImportError:  # no wheel for this platform
    from websockets.utils import apply_mask

MAX_CONTROL = 125
"""The most bytes in a control frame (RFC 6455 5.5)."""

_LONG = 65_536
"""Bytes from which the length of a frame is written in eight bytes."""

_STEP = 1 << 20
"""Bytes of a long frame that are masked or decoded in one step; a multiple of the mask's length."""

_SENDABLE = {1005: 1000, 1006: 1011, 1015: 1014}
_utf8 = codecs.getincrementaldecoder("utf-8")


class Violation(Exception):
    """The peer broke the protocol or a limit. `code` and `reason` are for the close frame (RFC 6455
    7.4.1: 1002 protocol error, 1007 text that is not UTF-8, 1008 limit exceeded, 1009 message too
    large)."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def sendable(close: Close) -> Close:
    """A close with a code that may be sent: 1005, 1006 and 1015 may not (RFC 6455 7.4.1)."""
    return Close(_SENDABLE.get(close.code, close.code), close.reason)


def truncate(reason: str) -> str:
    """A reason that fits a close frame: at most 123 bytes of UTF-8."""
    return reason.encode()[: MAX_CONTROL - 2].decode(errors="ignore")


class FrameReader:
    """Reads the frames that one side sends. `masked`: it is the client, and must mask them.

    A message of more than `limit` bytes is refused when a frame header announces it, or, if it
    is compressed, when more than `limit` bytes are decompressed.
    """

    def __init__(self, *, masked: bool, limit: int, extensions: Sequence[Extension] = ()) -> None:
        self._masked = masked
        self._limit = limit
        self._inflation = [
            Inflation(each) for each in extensions if isinstance(each, PerMessageDeflate)
        ]
        self._reader = StreamReader()
        self._size: int | None = None  # bytes of the message that is under way
        self._text: codecs.IncrementalDecoder | None = None
        self._has_paused = False
        self._parsing = self._parse()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete, each checked when it is yielded.

        Raises Violation for the first one that is wrong; nothing may be fed after that.
        """
        self._reader.feed_data(data)
        while (frame := next(self._parsing)) is not None or self._has_paused:
            if frame is not None:
                yield frame
                continue
            self._has_paused = False
            await_turn()  # here, where an exception that ends the wait does not end the parser

    def _parse(self) -> Generator[Frame | None, None, None]:
        reader = self._reader
        try:
            while True:
                while len(reader.buffer) < 2:
                    yield None
                _check_head(reader.buffer[0], reader.buffer[1])
                # Control frames may interrupt a message that is at its limit; and 0 would mean no
                # limit.
                limit = max(self._limit - (self._size or 0), MAX_CONTROL)
                frame = yield from Frame.parse(
                    self._read_exact,
                    mask=self._masked,
                    max_size=limit,
                    extensions=self._inflation,
                )
                for inflation in self._inflation:
                    if inflation.is_compressed:
                        frame.data = yield from self._inflate(inflation.inflate(frame, limit))
                if (text := self._check(frame)) is not None:
                    yield from self._decode(text, memoryview(frame.data), frame.fin)
                yield frame
        except ProtocolError as error:
            raise Violation(1002, str(error)) from error
        except PayloadTooBig as error:
            raise self._too_big() from error
        except UnicodeDecodeError as error:
            raise Violation(1007, "the text is not UTF-8") from error

    def _read_exact(self, size: int) -> Generator[None, None, bytes | bytearray]:
        data = yield from self._reader.read_exact(size)
        if size > LONG_EVENT:
            yield from self._pause()  # it was copied, and is unmasked
        return data

    def _inflate(self, steps: Generator[None, None, bytes]) -> Generator[None, None, bytes]:
        while True:
            try:
                next(steps)
            except StopIteration as end:
                data: bytes = end.value
                if len(data) > LONG_EVENT:
                    yield from self._pause()  # it was joined, and is decoded
                return data
            yield from self._pause()

    def _pause(self) -> Generator[None, None, None]:
        self._has_paused = True
        yield

    def _check(self, frame: Frame) -> codecs.IncrementalDecoder | None:
        """Check a frame against the frames before it (RFC 6455 5.4 to 5.6). Returns what has to
        decode its text yet."""
        if frame.opcode in CTRL_OPCODES:
            if frame.opcode is CLOSE:
                Close.parse(frame.data)
            return None
        previous_size, self._size = self._size, (self._size or 0) + len(frame.data)
        if frame.opcode is CONT:
            if previous_size is None:
                raise ProtocolError("a continuation of nothing")
        elif previous_size is not None:
            raise ProtocolError("a new message in the middle of another")
        else:
            self._text = _utf8() if frame.opcode is TEXT else None
        if self._size > self._limit:
            raise self._too_big()
        text, is_whole = self._text, previous_size is None and frame.fin
        if frame.fin:
            self._size = self._text = None
        return None if text is None or (is_whole and _is_ascii(frame.data)) else text

    def _decode(
        self, text: codecs.IncrementalDecoder, data: memoryview, fin: bool
    ) -> Generator[None, None, None]:
        """Raises UnicodeDecodeError."""
        for at in range(0, len(data), _STEP):
            if at:
                yield from self._pause()
            text.decode(data[at : at + _STEP])
        text.decode(b"", fin)

    def _too_big(self) -> Violation:
        return Violation(1009, f"a message may have {self._limit} bytes at most")


def _check_head(first: int, second: int) -> None:
    """Check the first two bytes of a frame, before its payload is read."""
    if first & 0x30:
        raise ProtocolError("reserved bits must be 0")
    if first & 0x08 and second & 0x7F > MAX_CONTROL:
        raise ProtocolError("control frame too long")


@lru_cache(maxsize=1024)
def _head(opcode: Opcode, length: int) -> bytes:
    """The head of a whole message that is not masked, of less than _LONG bytes (RFC 6455 5.2)."""
    return bytes((0x80 | opcode, *_length(length)))


def _length(length: int, mask: int = 0) -> bytes:
    """The length of a frame, with the bit of its mask (RFC 6455 5.2)."""
    if length < 126:
        return bytes((mask | length,))
    if length < _LONG:
        return bytes((mask | 126,)) + length.to_bytes(2, "big")
    return bytes((mask | 127,)) + length.to_bytes(8, "big")


def _is_ascii(data: BytesLike) -> bool:
    return data.isascii() if isinstance(data, bytes | bytearray) else False


class FrameWriter:
    """Writes frames to one side. `mask`: the gateway is the client (RFC 6455 5.3)."""

    def __init__(self, *, mask: bool, extensions: Sequence[Extension] = ()) -> None:
        self._mask = mask
        self._extensions = extensions
        self._deflate = next((e for e in extensions if isinstance(e, PerMessageDeflate)), None)

    def encode(self, opcode: Opcode, data: BytesLike, fin: bool = True) -> bytes:
        """The bytes of a frame, compressed if an extension was negotiated."""
        is_plain = opcode is TEXT and fin and not (self._mask or self._extensions)
        if is_plain and len(data) < _LONG:
            return _head(opcode, len(data)) + data  # what a stream is made of
        if len(data) > LONG_EVENT:
            return self._encode_long(opcode, data, fin)
        frame = Frame(opcode, data, fin)
        return frame.serialize(mask=self._mask, extensions=self._extensions)

    def _encode_long(self, opcode: Opcode, data: BytesLike, fin: bool) -> bytes:
        await_turn()  # the data was copied, and is once more
        first = 0x80 * fin | opcode
        if self._deflate is not None:
            pieces = deflate(self._deflate, opcode, data, fin)
            await_turn()
            data = b"".join(pieces)
            first |= 0x40 * (opcode is not CONT)  # RFC 7692 6.1
            await_turn()
        head = bytes((first, *_length(len(data), 0x80 * self._mask)))
        if not self._mask:
            return b"".join((head, data))
        mask, view = secrets.token_bytes(4), memoryview(data)
        steps = paced(range(0, len(view), _STEP))
        pieces = [apply_mask(view[at : at + _STEP], mask) for at in steps]
        await_turn()
        return b"".join((head, mask, *pieces))

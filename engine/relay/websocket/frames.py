"""Frames out of bytes, and bytes out of frames (RFC 6455 section 5). Knows no socket.

The bits are the business of the `websockets` library; which frames may follow which, how long a
message may get and whether its text is text is judged here, before a frame is let through.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterator, Sequence

from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.extensions import Extension
from websockets.frames import CLOSE, CONT, CTRL_OPCODES, TEXT, Close, Frame, Opcode
from websockets.streams import StreamReader
from websockets.typing import BytesLike

LONGEST_CONTROL = 125
"""Bytes in a control frame at most (RFC 6455 5.5)."""

_SENDABLE = {1005: 1000, 1006: 1011, 1015: 1014}
_utf8 = codecs.getincrementaldecoder("utf-8")


class Violation(Exception):
    """What the other side must not send; `code` and `words` are for the close frame that says so
    (RFC 6455 7.4.1: 1002 the protocol, 1007 text that is not UTF-8, 1008 against a limit, 1009 too
    large)."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code
        self.words = words


def sendable(close: Close) -> Close:
    """A close as it can be passed on: 1005, 1006 and 1015 stand for no frame (RFC 6455 7.4.1)."""
    return Close(_SENDABLE.get(close.code, close.code), close.reason)


def shortened(words: str) -> str:
    """Words that fit a close frame: 123 bytes of UTF-8."""
    return words.encode()[: LONGEST_CONTROL - 2].decode(errors="ignore")


class FrameReader:
    """The frames that one side sends. `masked`: it is the client, and has to mask them.

    A message of more than `limit` bytes is refused when a frame header announces it, or, if it
    is compressed, when more than `limit` bytes are decompressed.
    """

    def __init__(self, *, masked: bool, limit: int, extensions: Sequence[Extension] = ()) -> None:
        self._masked = masked
        self._limit = limit
        self._extensions = extensions
        self._reader = StreamReader()
        self._size: int | None = None  # bytes of the message that is under way
        self._text: codecs.IncrementalDecoder | None = None
        self._parsing = self._parse()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete, each checked when it is yielded.

        Raises Violation for the first one that is wrong; nothing may be fed after that.
        """
        self._reader.feed_data(data)
        while (frame := next(self._parsing)) is not None:
            yield frame

    def _parse(self) -> Generator[Frame | None, None, None]:
        reader = self._reader
        try:
            while True:
                while len(reader.buffer) < 2:
                    yield None
                _check_head(reader.buffer[0], reader.buffer[1])
                frame = yield from Frame.parse(
                    reader.read_exact,
                    mask=self._masked,
                    # Control frames may interrupt a message that is at its limit; and 0 would
                    # mean no limit to the decompressor.
                    max_size=max(self._limit - (self._size or 0), LONGEST_CONTROL),
                    extensions=self._extensions,
                )
                self._take(frame)
                yield frame
        except ProtocolError as error:
            raise Violation(1002, str(error)) from error
        except PayloadTooBig as error:
            raise self._too_big() from error
        except UnicodeDecodeError as error:
            raise Violation(1007, "the text is not UTF-8") from error

    def _take(self, frame: Frame) -> None:
        """Hold a frame against those before it (RFC 6455 5.4 to 5.6)."""
        if frame.opcode in CTRL_OPCODES:
            if frame.opcode is CLOSE:
                Close.parse(frame.data)
            return
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
        if self._text is not None and not (
            previous_size is None and frame.fin and _is_ascii(frame.data)
        ):
            self._text.decode(bytes(frame.data), frame.fin)
        if frame.fin:
            self._size = self._text = None

    def _too_big(self) -> Violation:
        return Violation(1009, f"a message may have {self._limit} bytes at most")


def _check_head(first: int, second: int) -> None:
    """Refuse what a frame's first two bytes show, before its payload is waited for."""
    if first & 0x30:
        raise ProtocolError("reserved bits must be 0")
    if first & 0x08 and second & 0x7F > LONGEST_CONTROL:
        raise ProtocolError("control frame too long")


def _is_ascii(data: BytesLike) -> bool:
    return data.isascii() if isinstance(data, bytes | bytearray) else False


class FrameWriter:
    """Frames as the bytes that one side gets. `mask`: we are the client (RFC 6455 5.3)."""

    def __init__(self, *, mask: bool, extensions: Sequence[Extension] = ()) -> None:
        self._mask = mask
        self._extensions = extensions

    def encode(self, opcode: Opcode, data: BytesLike, fin: bool = True) -> bytes:
        """The bytes of a frame, compressed where that was agreed on."""
        frame = Frame(opcode, data, fin)
        return frame.serialize(mask=self._mask, extensions=self._extensions)

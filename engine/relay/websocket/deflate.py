"""permessage-deflate (RFC 7692) in steps: to compress or decompress megabytes at once holds the
event loop for tenths of a second. The `websockets` library negotiates it, and compresses short
messages.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator

from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import CONT, CTRL_OPCODES, Frame, Opcode
from websockets.typing import BytesLike, ExtensionName

from engine.process.loop_turn import paced

_COMPRESSED, _DECOMPRESSED = 65_536, 262_144
"""Bytes that are compressed, or come of decompressing, in one step: a millisecond or two."""

_END = b"\x00\x00\xff\xff"
"""The end of each message, which is not sent (RFC 7692 7.2.1)."""


class Inflation(Extension):
    """The extension as a parser of frames uses it: `decode` leaves a frame as it is, and says in
    `is_compressed` whether `inflate` has to decompress its data."""

    name = ExtensionName("permessage-deflate")

    def __init__(self, extension: PerMessageDeflate) -> None:
        self._wbits = -extension.remote_max_window_bits
        self._keeps_window = not extension.remote_no_context_takeover
        self._decoder = zlib.decompressobj(self._wbits)
        self._continues = False  # a message whose first frame was compressed
        self.is_compressed = False

    def decode(self, frame: Frame, *, max_size: int | None = None) -> Frame:
        """The frame without the bit that marks compressed data. Raises ProtocolError."""
        if frame.opcode in CTRL_OPCODES:
            self.is_compressed = False
            return frame
        if frame.opcode is CONT:
            if self._continues and frame.rsv1:
                raise ProtocolError("RSV1 bit set in continuation frame")
            self.is_compressed = self._continues
        else:
            self.is_compressed = frame.rsv1
            if frame.rsv1 and not self._keeps_window:
                self._decoder = zlib.decompressobj(self._wbits)
        self._continues = self.is_compressed and not frame.fin
        if not self.is_compressed:
            return frame
        return Frame(frame.opcode, frame.data, frame.fin, False, frame.rsv2, frame.rsv3)

    def encode(self, frame: Frame) -> Frame:
        raise NotImplementedError("frames are written by a FrameWriter")

    def inflate(self, frame: Frame, limit: int) -> Generator[None, None, bytes]:
        """The data of a compressed frame; yields between the steps. Raises PayloadTooBig if it has
        more than `limit` bytes, ProtocolError."""
        pieces: list[bytes] = []
        size = turned = 0
        view = memoryview(frame.data)  # in steps: what is left of a step is copied
        starts = range(0, len(view), _COMPRESSED)
        steps: list[BytesLike] = [view[at : at + _COMPRESSED] for at in starts]
        if frame.fin:
            steps.append(_END)
        for data in steps:
            is_full = True
            while data or is_full:
                most = min(_DECOMPRESSED, limit + 1 - size)
                try:
                    piece = self._decoder.decompress(data, most)
                except zlib.error as error:
                    raise ProtocolError("decompression failed") from error
                size += len(piece)
                if size > limit:
                    raise PayloadTooBig(None, limit)
                pieces.append(piece)
                data, is_full = self._decoder.unconsumed_tail, len(piece) == most
                if is_full or size - turned >= _DECOMPRESSED:
                    turned = size
                    yield
        if len(pieces) > 2:
            yield  # to join megabytes takes milliseconds
        return b"".join(pieces)


def deflate(
    extension: PerMessageDeflate, opcode: Opcode, data: BytesLike, fin: bool
) -> list[bytes]:
    """The data of a long frame, compressed, in pieces; the event loop has its turns meanwhile."""
    if extension.local_no_context_takeover and opcode is not CONT:
        wbits = -extension.local_max_window_bits
        extension.encoder = zlib.compressobj(wbits=wbits, **extension.compress_settings)
    encoder, view = extension.encoder, memoryview(data)
    steps = paced(range(0, len(view), _COMPRESSED))
    pieces = [encoder.compress(view[at : at + _COMPRESSED]) for at in steps]
    end = encoder.flush(zlib.Z_SYNC_FLUSH)
    return [*pieces, end.removesuffix(_END) if fin else end]

"""Compressed messages (RFC 7692), in steps with turns of the event loop between them."""

from __future__ import annotations

import random

import pytest
from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import BINARY, CONT, PING, TEXT, Frame, Opcode

from engine.process.loop_turn import paced
from engine.relay.websocket import deflate as module
from engine.relay.websocket.deflate import Inflation, deflate
from tests.support.each import each

NOISE = random.Random(7).randbytes(1_500_000)
WORDS = b"The quick brown fox. " * 100_000
LIMIT = 10_000_000


def pair(*, takeover: bool = True, bits: int = 15) -> tuple[PerMessageDeflate, Inflation]:
    """A sender, and the parser's extension of its receiver."""
    sender = PerMessageDeflate(False, not takeover, 15, bits, {"memLevel": 5})
    return sender, Inflation(PerMessageDeflate(not takeover, False, bits, 15))


def inflated(inflation: Inflation, frame: Frame, limit: int = LIMIT) -> tuple[bytes, int]:
    """The data of a frame, and after how many steps."""
    assert inflation.decode(frame).rsv1 is False
    if not inflation.is_compressed:
        return bytes(frame.data), 0
    steps, count = inflation.inflate(frame, limit), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, count
        count += 1


@each("takeover", [True, False])
@each("bits", [15, 9])
def test_what_is_compressed_in_steps_or_by_the_library_is_read_in_steps(
    takeover: bool, bits: int
) -> None:
    sender, receiver = pair(takeover=takeover, bits=bits)
    for data in (b"", b"a", NOISE, WORDS, b"a" * 262_144, WORDS[:3_000], NOISE):
        in_steps = Frame(TEXT, b"".join(deflate(sender, TEXT, data, True)), True, True)
        by_library = sender.encode(Frame(TEXT, data, True))
        for frame in (in_steps, by_library):
            text, steps = inflated(receiver, frame)
            assert text == data
            assert steps >= len(data) // 262_144


def test_the_frames_of_a_message_are_compressed_one_by_one() -> None:
    sender, receiver = pair(takeover=False)
    first = Frame(TEXT, b"".join(deflate(sender, TEXT, WORDS, False)), False, True)
    ping = Frame(PING, b"ping", True)
    last = Frame(CONT, b"".join(deflate(sender, CONT, NOISE, True)), True)
    assert [inflated(receiver, frame)[0] for frame in (first, ping, last)] == [
        WORDS,
        b"ping",
        NOISE,
    ]
    plain = [Frame(TEXT, b"x", False), Frame(CONT, b"y", True)]
    assert [inflated(receiver, frame) for frame in plain] == [(b"x", 0), (b"y", 0)]


def test_only_the_first_frame_of_a_message_has_the_mark() -> None:
    sender, receiver = pair()
    inflated(receiver, Frame(TEXT, b"".join(deflate(sender, TEXT, b"x", False)), False, True))
    with pytest.raises(ProtocolError, match="RSV1"):
        receiver.decode(Frame(CONT, b"", True, True))


@each("data", [NOISE, b"a" * 600_000])
def test_what_comes_out_is_bounded(data: bytes) -> None:
    for limit, fits in ((len(data), True), (len(data) - 1, False)):
        sender, receiver = pair()
        frame = Frame(TEXT, b"".join(deflate(sender, TEXT, data, True)), True, True)
        if fits:
            assert inflated(receiver, frame, limit)[0] == data
        else:
            with pytest.raises(PayloadTooBig):
                inflated(receiver, frame, limit)


def test_the_loop_has_a_turn_wherever_it_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is not longer than 64 KB."""
    counts: list[int] = []

    def counted(steps: range) -> object:
        counts.append(len(steps))
        return paced(steps)

    monkeypatch.setattr(module, "paced", counted)
    deflate(pair()[0], Opcode.TEXT, NOISE, True)
    assert counts == [-(-len(NOISE) // 65_536)]


def test_what_does_not_decompress_breaks_the_protocol() -> None:
    with pytest.raises(ProtocolError, match="decompression failed"):
        inflated(pair()[1], Frame(TEXT, b"\xff\xff\xff", True, True))


def test_what_hardly_gets_smaller_is_read_in_steps_as_well() -> None:
    data = random.Random(1).randbytes(2_000_000)
    sender, receiver = pair()
    frame = Frame(BINARY, b"".join(deflate(sender, BINARY, data, True)), True, True)
    text, steps = inflated(receiver, frame)
    assert text == data
    assert steps >= 5

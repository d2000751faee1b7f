"""Frames out of bytes: which are let through, and what is said to those that are not."""

from __future__ import annotations

import secrets

import pytest
from websockets.frames import Close, Opcode

from engine.relay.websocket import frames
from engine.relay.websocket.frames import (
    FrameReader,
    FrameWriter,
    Violation,
    sendable,
    truncate,
)
from engine.relay.websocket.handshake import deflate_offer, negotiate_deflate, negotiated_deflate
from tests.support.each import each
from tests.support.frames import BINARY, CLOSE, CONT, MASK, PING, PONG, TEXT, close, frame
from tests.support.loop_turns import loop_turns

LIMIT = 1000


def both(opcode, data=b"", **more):
    """A frame of a client, and the same of a server."""
    return frame(opcode, data, mask=MASK, **more), frame(opcode, data, **more)


def joined(*pairs):
    return b"".join(p[0] for p in pairs), b"".join(p[1] for p in pairs)


def read(data, masked, step=0, limit=LIMIT, extensions=()):
    """Frames and the violation that a reader finds, fed at once or in steps."""
    reader, frames = FrameReader(masked=masked, limit=limit, extensions=extensions), []
    pieces = [data[i : i + step] for i in range(0, len(data), step)] if step else [data]
    try:
        for piece in pieces:
            for each_frame in reader.feed(piece):
                frames.append((each_frame.opcode, each_frame.fin, bytes(each_frame.data)))  # noqa: PERF401
    except Violation as violation:
        return frames, violation
    return frames, None


HELLO = "héllo".encode()
GOOD = {
    "text": (both(TEXT, HELLO), [(TEXT, True, HELLO)]),
    "no text": (both(TEXT), [(TEXT, True, b"")]),
    "binary": (both(BINARY, b"\xff\x00"), [(BINARY, True, b"\xff\x00")]),
    "126 bytes": (both(TEXT, b"x" * 126), [(TEXT, True, b"x" * 126)]),
    "the largest message": (both(TEXT, b"x" * LIMIT), [(TEXT, True, b"x" * LIMIT)]),
    "fragments": (
        joined(both(TEXT, b"a", fin=False), both(CONT, b"b", fin=False), both(CONT, b"c")),
        [(TEXT, False, b"a"), (CONT, False, b"b"), (CONT, True, b"c")],
    ),
    "fragments of nothing": (
        joined(both(BINARY, fin=False), both(CONT, fin=False), both(CONT)),
        [(BINARY, False, b""), (CONT, False, b""), (CONT, True, b"")],
    ),
    "a character in two fragments": (
        joined(both(TEXT, HELLO[:2], fin=False), both(CONT, HELLO[2:])),
        [(TEXT, False, HELLO[:2]), (CONT, True, HELLO[2:])],
    ),
    "a character in four fragments": (
        joined(*[both(TEXT if i == 0 else CONT, b, fin=i == 3) for i, b in
                 enumerate([b"\xf0", b"\x9f", b"\x98", b"\x80"])]),
        [(TEXT, False, b"\xf0"), (CONT, False, b"\x9f"), (CONT, False, b"\x98"),
         (CONT, True, b"\x80")],
    ),
    "a control frame in the middle of a message": (
        joined(both(TEXT, HELLO[:2], fin=False), both(PING, b"p"), both(CONT, HELLO[2:])),
        [(TEXT, False, HELLO[:2]), (PING, True, b"p"), (CONT, True, HELLO[2:])],
    ),
    "a control frame in the middle of the largest message": (
        joined(both(TEXT, b"x" * LIMIT, fin=False), both(PONG, b"p" * 125), both(CONT)),
        [(TEXT, False, b"x" * LIMIT), (PONG, True, b"p" * 125), (CONT, True, b"")],
    ),
    "a close in the middle of a message": (
        joined(both(TEXT, b"a", fin=False), both(CLOSE, close(1000))),
        [(TEXT, False, b"a"), (CLOSE, True, close(1000))],
    ),
    "a close that says nothing": (both(CLOSE), [(CLOSE, True, b"")]),
    "a close with the longest reason": (
        both(CLOSE, close(3000, b"r" * 123)), [(CLOSE, True, close(3000, b"r" * 123))]
    ),
}  # fmt: skip
GOOD |= {
    f"close code {code}": (both(CLOSE, close(code)), [(CLOSE, True, close(code))])
    for code in (*range(1000, 1004), *range(1007, 1015), 3000, 3999, 4000, 4999)
}
BAD = {
    "a reserved bit 1": (both(TEXT, b"a", reserved=4), 1002),
    "a reserved bit 2": (both(TEXT, b"a", reserved=2), 1002),
    "a reserved bit 3": (both(BINARY, b"a", reserved=1), 1002),
    "a reserved bit of a ping": (both(PING, b"a", reserved=4), 1002),
    **{f"opcode {code}": (both(code, b""), 1002) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "a ping that is too long": (both(PING, b"x" * 126), 1002),
    "a pong that is too long": (both(PONG, b"x" * 65_536), 1002),
    "a close that is too long": (both(CLOSE, close(1000, b"x" * 124)), 1002),
    "a ping in fragments": (both(PING, b"x", fin=False), 1002),
    "a close in fragments": (both(CLOSE, close(1000), fin=False), 1002),
    "a continuation of nothing": (both(CONT, b"x"), 1002),
    "a continuation after the end": (joined(both(TEXT, b"a"), both(CONT, b"b")), 1002),
    "a text in a text": (joined(both(TEXT, b"a", fin=False), both(TEXT, b"b")), 1002),
    "a binary in a text": (joined(both(TEXT, b"a", fin=False), both(BINARY, b"b")), 1002),
    "a close of one byte": (both(CLOSE, b"\x03"), 1002),
    "a close whose reason is no UTF-8": (both(CLOSE, close(1000, b"\xff")), 1007),
    **{
        f"close code {code}": (both(CLOSE, close(code)), 1002)
        for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)
    },
    "text that is no UTF-8": (both(TEXT, b"\xff"), 1007),
    "text with a surrogate": (both(TEXT, b"\xed\xa0\x80"), 1007),
    "text in too many bytes": (both(TEXT, b"\xc0\xaf"), 1007),
    "text beyond Unicode": (both(TEXT, b"\xf4\x90\x80\x80"), 1007),
    "text that ends in a character": (both(TEXT, HELLO[:2]), 1007),
    "a last fragment that ends in a character": (
        joined(both(TEXT, b"a", fin=False), both(CONT, HELLO[:2])),
        1007,
    ),
    "a fragment that is no UTF-8": (both(TEXT, b"a\xff", fin=False), 1007),
    "a character broken by a fragment": (
        joined(both(TEXT, b"\xc3", fin=False), both(CONT, b"a", fin=False)),
        1007,
    ),
    "a message that is too long": (both(BINARY, b"x" * (LIMIT + 1)), 1009),
    "a message said to be too long": (both(BINARY, size=LIMIT + 1), 1009),
    "a message said to be endless": (both(BINARY, size=2**63 - 1), 1009),
    "fragments that are too long": (
        joined(both(BINARY, b"x" * 600, fin=False), both(CONT, b"x" * 401)),
        1009,
    ),
    "a little too much at the end": (
        joined(both(BINARY, b"x" * LIMIT, fin=False), both(CONT, b"x", fin=False)),
        1009,
    ),
}


@each("step", [0, 1, 3])
@each("masked", [True, False], ids=["client", "server"])
@each("case", GOOD)
def test_valid_frames_pass(case, masked, step):
    data, frames = GOOD[case]
    assert read(data[0 if masked else 1], masked, step) == (frames, None)


@each("step", [0, 1])
@each("masked", [True, False], ids=["client", "server"])
@each("case", BAD)
def test_violations_have_their_close_codes(case, masked, step):
    data, code = BAD[case]
    good = joined(both(TEXT, b"before"), data)[0 if masked else 1]
    frames, violation = read(good, masked, step)
    assert frames[0] == (TEXT, True, b"before")
    assert violation is not None
    assert violation.code == code
    assert violation.reason
    assert len(violation.reason) <= 123


def test_a_client_must_mask_and_a_server_must_not():
    assert read(frame(TEXT, b"a"), True)[1].code == 1002
    assert read(frame(TEXT, b"a", mask=MASK), False)[1].code == 1002


@pytest.mark.parametrize("head", [b"\x89\xff", b"\xa1\x81", b"\x83\x80", b"\x81\x05"])
def test_a_wrong_frame_head_is_refused_before_its_payload(head):
    frames, violation = read(head, True)
    assert frames == []
    assert violation.code == 1002


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 100_000])
def test_written_frames_are_read_back(masked, size):
    written = FrameWriter(mask=masked).encode(Opcode.TEXT, b"x" * size)
    assert read(written, masked, limit=10**6) == ([(TEXT, True, b"x" * size)], None)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("fin", [True, False])
def test_a_long_frame_is_read_back_in_turns_of_the_loop(masked, fin):
    data, written, outcomes = "é€".encode() * 700_000, [], []
    writer = FrameWriter(mask=masked)
    turns = loop_turns(lambda: written.append(writer.encode(Opcode.TEXT, data, fin)))
    assert turns >= (5 if masked else 1)  # of four steps
    assert loop_turns(lambda: outcomes.append(read(written[0], masked, limit=10**7))) >= 4
    assert outcomes == [([(TEXT, fin, data)], None)]


def test_a_reader_that_is_interrupted_in_a_turn_reads_on(monkeypatch):
    def interrupt():
        raise TimeoutError

    text = "é".encode() * 800_000
    reader = FrameReader(masked=True, limit=10**7)
    with monkeypatch.context() as patch:
        patch.setattr(frames, "await_turn", interrupt)
        for data in (frame(TEXT, text, mask=MASK) + frame(TEXT, b"x", mask=MASK), b""):
            with pytest.raises(TimeoutError):
                next(reader.feed(data))
    assert [bytes(each_frame.data) for each_frame in reader.feed(b"")] == [text, b"x"]


@pytest.mark.parametrize("end", [b"\xff", b"\xc3"])
def test_a_long_text_that_is_not_utf8_at_its_end_is_refused(end):
    data = "é".encode() * 800_000 + end
    frames, violation = read(frame(TEXT, data, mask=MASK), True, limit=10**7)
    assert (frames, violation.code) == ([], 1007)


def test_masks_are_not_used_twice():
    writer = FrameWriter(mask=True)
    masks = {writer.encode(Opcode.TEXT, b"")[2:6] for _ in range(50)}
    assert len(masks) > 45


def deflated():
    """A client's writer and the server's reader of it, with permessage-deflate between them."""
    answered, server = negotiate_deflate(deflate_offer())
    client = negotiated_deflate([answered], True)
    return FrameWriter(mask=True, extensions=client), server


def test_a_compressed_message_comes_out_as_it_was():
    writer, extensions = deflated()
    data = b"".join(
        writer.encode(Opcode(opcode), part * 100, fin)
        for opcode, part, fin in ((TEXT, b"a", True), (TEXT, b"b", False), (CONT, b"c", True))
    )
    assert len(data) < 150
    frames, violation = read(data, True, extensions=extensions)
    assert violation is None
    assert frames == [(1, True, b"a" * 100), (1, False, b"b" * 100), (0, True, b"c" * 100)]


@pytest.mark.parametrize("mask", [True, False])
def test_a_long_message_is_compressed_and_unpacked_in_turns_of_the_loop(mask):
    answered, server = negotiate_deflate(deflate_offer())
    client = negotiated_deflate([answered], True)
    sender, receiver = (client, server) if mask else (server, client)
    writer = FrameWriter(mask=mask, extensions=sender)
    noise, plain = secrets.token_bytes(2_000_000), b"a" * 2_000_000
    written, outcomes = [], []
    for data in (noise, plain):
        turns = loop_turns(lambda data=data: written.append(writer.encode(Opcode.BINARY, data)))
        assert turns >= 2_000_000 // 65_536
    assert len(written[1]) < 10_000
    text = b"".join(written)
    turns = loop_turns(lambda: outcomes.append(read(text, mask, limit=10**7, extensions=receiver)))
    assert turns >= 2 * (2_000_000 // 262_144 + 2)  # and before it is joined, and decoded
    frames, violation = outcomes[0]
    assert ([data for *_, data in frames], violation) == ([noise, plain], None)


def test_a_message_that_grows_too_long_when_it_is_unpacked_is_refused():
    writer, extensions = deflated()
    bomb = writer.encode(Opcode.BINARY, b"\0" * 10_000_000)
    assert len(bomb) < 20_000
    frames, violation = read(bomb, True, limit=100_000, extensions=extensions)
    assert (frames, violation.code) == ([], 1009)


def test_fragments_that_grow_too_long_when_they_are_unpacked_are_refused():
    writer, extensions = deflated()
    first = writer.encode(Opcode.BINARY, b"\0" * LIMIT, False)
    more = writer.encode(Opcode.CONT, b"\0" * 10_000_000, True)
    frames, violation = read(first + more, True, limit=20_000, extensions=extensions)
    assert ([f[1] for f in frames], violation.code) == ([False], 1009)


def test_what_cannot_be_unpacked_is_refused():
    _, extensions = deflated()
    frames, violation = read(
        frame(TEXT, b"\xff\xff\xff", mask=MASK, reserved=4), True, extensions=extensions
    )
    assert (frames, violation.code) == ([], 1002)


@pytest.mark.parametrize(
    ("code", "sent"), [(1005, 1000), (1006, 1011), (1015, 1014), (1000, 1000), (4321, 4321)]
)
def test_codes_that_stand_for_no_frame_are_replaced(code, sent):
    assert sendable(Close(code, "why")) == Close(sent, "why")


def test_words_are_shortened_to_whole_characters():
    assert truncate("é" * 100).encode() == "é".encode() * 61

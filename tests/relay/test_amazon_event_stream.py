"""Messages of Amazon event streams: what the vendor's own parser reads, split anywhere."""

from __future__ import annotations

import struct
from itertools import pairwise
from uuid import UUID
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from engine.relay import amazon_event_stream
from engine.relay.amazon_event_stream import BrokenMessage, Message, MessageReader
from tests.support.amazon_events import Typed, message
from tests.support.paths import ROOT

CASES = ROOT / "tests" / "cases" / "amazon_events"


def recorded(name: str) -> bytes:
    """The bytes of a message in a file of hexadecimal digits."""
    return bytes.fromhex((CASES / name).read_text())


def read(*pieces: bytes) -> list[Message]:
    reader, messages = MessageReader(), []
    for piece in pieces:
        reader.feed(piece)
        while (one := reader.next()) is not None:
            messages.append(one)
    assert not reader.inside
    return messages


def by_botocore(data: bytes) -> list[tuple[object, bytes]]:
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    return [(each.headers, each.payload) for each in buffer]


RECORDED = {
    "empty.hex": Message({}, b""),
    "headers.hex": Message({"event-type": 40972}, b"{'foo':'bar'}"),
    "text-delta.hex": Message(
        {
            ":event-type": "contentBlockDelta",
            ":content-type": "application/json",
            ":message-type": "event",
        },
        b'{"contentBlockIndex":0,"delta":{"text":"Hello"},"p":"abcdefghijklmnopq"}',
    ),
    "throttled.hex": Message(
        {
            ":exception-type": "throttlingException",
            ":content-type": "application/json",
            ":message-type": "exception",
        },
        b'{"message":"Too many tokens, please wait before trying again."}',
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_message_is_read(name: str) -> None:
    assert read(recorded(name)) == [RECORDED[name]]


def test_a_stream_is_read_split_at_any_byte() -> None:
    data = b"".join(map(recorded, RECORDED))
    for at in range(len(data) + 1):
        assert read(data[:at], data[at:]) == list(RECORDED.values())


VALUES = (
    st.booleans()
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.uuids()
    | st.builds(Typed, st.just(2), st.integers(-128, 127))
    | st.builds(Typed, st.just(3), st.integers(-(2**15), 2**15 - 1))
    | st.builds(Typed, st.just(4), st.integers(-(2**31), 2**31 - 1))
    | st.builds(Typed, st.sampled_from([5, 8]), st.integers(-(2**63), 2**63 - 1))
)
MESSAGES = st.builds(
    message,
    st.dictionaries(st.text(max_size=10), VALUES, max_size=5).map(lambda o: list(o.items())),
    st.binary(max_size=100),
)


def plain(value: object) -> object:
    return value.bytes if isinstance(value, UUID) else value


@given(st.lists(MESSAGES, max_size=4), st.lists(st.integers(0, 1000), max_size=6))
def test_messages_are_what_botocore_reads_however_they_are_split(
    messages: list[bytes], cuts: list[int]
) -> None:
    data = b"".join(messages)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    ours = [({k: plain(v) for k, v in o.headers.items()}, o.payload) for o in read(*pieces)]
    assert ours == by_botocore(data)


@given(MESSAGES, st.data())
def test_a_wrong_bit_anywhere_is_an_error_or_an_incomplete_message(
    data: bytes, draw: st.DataObject
) -> None:
    at = draw.draw(st.integers(0, len(data) * 8 - 1))
    wrong = bytearray(data)
    wrong[at // 8] ^= 1 << at % 8
    reader = MessageReader()
    reader.feed(bytes(wrong))
    with pytest.raises(BrokenMessage, match="checksum"):
        reader.next()


@given(MESSAGES, st.data())
def test_the_beginning_of_a_message_is_no_message(data: bytes, draw: st.DataObject) -> None:
    reader = MessageReader()
    reader.feed(data[: draw.draw(st.integers(1, len(data) - 1))])
    assert reader.next() is None
    assert reader.inside


def broken(data: bytes) -> str:
    reader = MessageReader()
    reader.feed(data)
    with pytest.raises(BrokenMessage) as excinfo:
        reader.next()
    return str(excinfo.value)


BLOCKS = {
    "a name beyond the end": b"\x09:e",
    "no type": b"\x02:e",
    "half a number": b"\x02:e\x04\x00",
    "half a uuid": b"\x02:e\x09\x00",
    "half a text": b"\x02:e\x07\x00\x09a",
    "no utf-8": b"\x02:e\x07\x00\x01\xff",
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_headers_that_are_cut_off_are_an_error(block: bytes) -> None:
    assert "headers that cannot be read" in broken(framed(block))


def framed(block: bytes) -> bytes:
    """A message with this block of headers, its checksums right."""
    data = prelude(16 + len(block), len(block)) + block
    return data + struct.pack("!I", crc32(data))


def prelude(size: int, headers: int) -> bytes:
    lengths = struct.pack("!II", size, headers)
    return lengths + struct.pack("!I", crc32(lengths))


def test_a_header_of_an_unknown_type_is_an_error() -> None:
    assert "unknown type (10)" in broken(framed(b"\x02:e\x0a"))


def test_two_headers_of_one_name_are_an_error() -> None:
    assert "two headers of one name" in broken(message([("a", "1"), ("a", "2")]))


def test_a_message_shorter_than_its_headers_is_an_error() -> None:
    assert "shorter than its headers" in broken(prelude(20, 100))


@pytest.mark.parametrize(("bound", "size"), [("MAX_PAYLOAD", 5), ("MAX_HEADERS", 5)])
def test_a_large_message_is_refused_by_its_prelude(
    bound: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = [("name", "value")] if bound == "MAX_HEADERS" else []
    data = message(headers, b"x" * 6)
    monkeypatch.setattr(amazon_event_stream, bound, size)
    assert "over 5 bytes" in broken(data[:12])

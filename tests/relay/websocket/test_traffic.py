"""What passes is counted, and usage read from it."""

from __future__ import annotations

from websockets.frames import Frame, Opcode

from engine.exchange.request_record import MessageCount
from engine.relay.websocket.traffic import MAX_JOINED, TrafficReader
from engine.values.usage import Usage

TEXT, BINARY, CONT = Opcode.TEXT, Opcode.BINARY, Opcode.CONT


def tally(*frames, usage=None):
    passed, texts = MessageCount(), []

    def read(message):
        texts.append(message)
        return usage

    counting = TrafficReader(passed, read)
    for frame in frames:
        counting.add(Frame(*frame))
    return passed, counting.usage, texts


def test_messages_and_bytes_are_counted():
    passed, _, texts = tally((TEXT, b"ab"), (BINARY, b"cde", False), (CONT, b"f", True))
    assert passed == MessageCount(2, 6)
    assert texts == [b"ab", b"cdef"]


def test_a_text_in_fragments_is_put_together():
    _, total, texts = tally(
        (TEXT, b"a", False), (CONT, b"b", False), (CONT, b"c"), usage=Usage(input=1)
    )
    assert (texts, total.input) == ([b"abc"], 1)


def test_fragments_that_grow_too_long_are_not_kept():
    big = b"x" * (MAX_JOINED // 2 + 1)
    _, _, texts = tally((TEXT, big, False), (CONT, big, False), (CONT, b"c"), (TEXT, b"next"))
    assert texts == [b"next"]


def test_reported_usage_is_summed():
    _, total, _ = tally((TEXT, b"a"), (TEXT, b"b"), usage=Usage(input=1, output=2))
    assert (total.input, total.output) == (2, 4)


def test_a_total_replaces_the_one_before_and_is_added_to_the_sum():
    usages = {b"a": Usage(input=1), b"b": Usage(input=2)}
    totals = {b"x": Usage(seconds=2.0), b"y": Usage(seconds=5.0)}
    reader = TrafficReader(MessageCount(), usages.get, totals.get)
    for data in (b"a", b"x", b"b", b"y"):
        reader.add(Frame(TEXT, data))
    assert (reader.usage.input, reader.usage.seconds) == (3, 5.0)

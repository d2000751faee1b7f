"""Encoded answers, decoded within bounds."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.metering.readers import reader
from engine.relay.sse import Cleaner
from engine.values.content_coding import MAX_DECODED, DecodeError, decode_body, decoder
from engine.values.usage import NO_USAGE, Usage


def raw(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


FORMS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    (" GZIP ", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw),
]
EVERY = pytest.mark.parametrize(("encoding", "pack"), FORMS)


@EVERY
@given(data=st.binary(max_size=2_000), size=st.integers(2, 50))
def test_any_pieces_decode_to_the_same(
    encoding: str, pack: Callable[[bytes], bytes], data: bytes, size: int
) -> None:
    packed, reads = pack(data), decoder(encoding)
    assert reads is not None
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert b"".join(text for piece in pieces for text in reads.feed(piece)) == data
    assert decode_body(encoding, packed) == data


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_one_coding_under_the_name_of_the_other_is_decoded(coding: str) -> None:
    for data in (gzip.compress(b"text"), zlib.compress(b"text")):
        assert decode_body(coding, data) == b"text"


def test_several_members_and_padding() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two")
    assert decode_body("gzip", packed) == b"one two"
    assert decode_body("gzip", packed + b"\0" * 10) == b"one two"


@pytest.mark.parametrize("encoding", ["", "identity", "none", "UTF-8", "utf8, identity"])
def test_a_body_that_is_not_encoded_is_unchanged(encoding: str) -> None:
    assert decode_body(encoding, b"x") == b"x"


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("br", b"x"),
        ("zstd", b"x"),
        ("gzip, gzip", b"x"),
        ("gzip", b"not gzip"),
        ("gzip", gzip.compress(b"x" * 100, mtime=0)[:-12]),
        ("deflate", b"\xff\xff\xff"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_none(encoding: str, data: bytes) -> None:
    assert decode_body(encoding, data) is None


def test_a_bomb_is_given_up_at_the_bound() -> None:
    bomb = gzip.compress(b"\0" * (MAX_DECODED + 1))
    reads, pieces = decoder("gzip"), []
    assert reads is not None
    with pytest.raises(DecodeError):
        pieces.extend(map(len, reads.feed(bomb)))
    assert 0 < sum(pieces) <= MAX_DECODED
    assert decode_body("gzip", bomb) is None


# Counting.

OPENAI, ANTHROPIC, GEMINI = map(dialects.get, ("openai", "anthropic", "gemini"))
USAGE = b'"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}'
CHAT = b'{"choices":[{"message":{"content":"hi"}}],' + USAGE + b"}"
STREAM = (
    b'data: {"choices":[{"delta":{"content":"hi"}}]}\r\n\r\n'
    b'data: {"choices":[],' + USAGE + b"}\r\n\r\n"
    b"data: [DONE]\r\n\r\n"
)
MESSAGES = (
    b"event: message_start\n"
    b'data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":5}}\n\n'
)
GENERATED = b'data: {"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5}}\n\n'
ANSWERS = {
    "chat": (OPENAI, "application/json", CHAT),
    "chat stream": (OPENAI, "text/event-stream", STREAM),
    "messages stream": (ANTHROPIC, "text/event-stream", MESSAGES),
    "gemini stream": (GEMINI, "text/event-stream", GENERATED),
}


@EVERY
@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("size", [2, 50, 10_000])
def test_an_encoded_answer_is_counted_as_it_is_without_encoding(
    encoding: str, pack: Callable[[bytes], bytes], kind: str, size: int
) -> None:
    dialect, media_type, body = ANSWERS[kind]
    packed, passing = pack(body), reader(dialect.meter, media_type, encoding, Cleaner().feed)
    for at in range(0, len(packed), size):
        passing.feed(packed[at : at + size])
    assert passing.reported() == Usage(3, 5, source="upstream")
    assert passing.size == len(packed)


COMMENT = b": " + b"x" * 1020 + b"\n\n"


def test_a_bomb_counts_as_far_as_it_was_read() -> None:
    passing = reader(OPENAI.meter, "text/event-stream", "gzip", Cleaner().feed)
    passing.feed(gzip.compress(STREAM + COMMENT * (MAX_DECODED // len(COMMENT) + 1)))
    assert passing.reported() == Usage(3, 5, source="upstream")


def test_the_usage_of_a_body_in_another_coding_is_estimated() -> None:
    passing = reader(OPENAI.meter, "application/json", "gzip")
    passing.feed(CHAT)
    passing.feed(CHAT)
    assert passing.reported() is None
    assert passing.complete(NO_USAGE).source == "estimated"

"""The reader for each kind of response: text, bytes, encoded, and any bytes at all."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.metering.readers import SizeReader, reader, usage_in
from engine.metering.sse_reader import BUFFERED_EVENT
from engine.relay.sse import Cleaner
from engine.values.usage import Usage
from tests.support.metering import ESTIMATE, JSON, SSE, read


def test_plain_text_is_estimated_by_its_bytes():
    assert (
        read("openai", [b"1\n00:00 --> 00:01\nHi\n"], "text/plain").complete(ESTIMATE).output == 5
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"1\n00:00:00,000 --> 00:00:01,000\nHi\n\n2\n00:01:02,000 --> 01:01:09,500\nHi\n", 3669.5),
        (b"WEBVTT\n\n00:00.000 --> 00:09.500\nHi\n", 9.5),
        (b"Hi there.\n", 4.0),
    ],
)
def test_subtitles_say_how_long_they_are(text, seconds):
    usage_reader = read("openai", [b"0" * 9000 + b"\n", text[:30], text[30:]], "text/plain")
    assert usage_reader.complete(Usage(input=1, seconds=4.0)).seconds == seconds
    assert usage_reader.complete(Usage(input=1)).seconds == 0  # not of a recording


def test_without_a_meter_only_the_size_is_counted():
    assert isinstance(reader(None, JSON), SizeReader)
    assert reader(None, SSE).complete(ESTIMATE).output == 0


def encoded(data, encoding="gzip", media_type=JSON):
    """A reader that has been fed encoded data in pieces of 10 bytes."""
    clean = Cleaner().feed if media_type == SSE else None
    usage_reader = reader(dialects.get("openai").meter, media_type, encoding, clean)
    for at in range(0, len(data), 10):
        usage_reader.feed(data[at : at + 10])
    return usage_reader


BODY = b'{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}'
USAGE = Usage(5, 3, source="upstream")


@pytest.mark.parametrize("media_type", [JSON, SSE])
def test_an_encoded_response_is_decoded_and_its_encoded_size_counted(media_type):
    data = gzip.compress(BODY if media_type == JSON else b"data: " + BODY + b"\r\n\r\n")
    usage_reader = encoded(data, media_type=media_type)
    assert (usage_reader.reported(), usage_reader.size) == (USAGE, len(data))


def test_a_response_that_cannot_be_decoded_is_estimated():
    usage_reader = encoded(gzip.compress(BODY)[:15] + b"\0" * 40)
    assert (usage_reader.reported(), usage_reader.size) == (None, 55)
    assert usage_reader.complete(ESTIMATE).source == "estimated"


@pytest.mark.parametrize(
    ("media_type", "body", "usage"),
    [(JSON, BODY, USAGE), (JSON, b"{", None), ("audio/mpeg", BODY, None), (SSE, BODY, None)],
)
def test_the_usage_of_a_complete_body(media_type, body, usage):
    assert usage_in(dialects.get("openai").meter, media_type, body) == usage


BYTES = st.lists(
    st.sampled_from(
        [
            *(b'"usage"', b'"usageMetadata"', b":", b"{", b"}", b"[", b"]", b",", b'"', b"\\"),
            *(b"data: ", b"event: x\n", b"\n\n", b"1", b'"input_tokens":', b'"type":', b"null"),
            *(b'"message_delta"', b'"b64_json"', b"\xff", b"\xe6\x97", b"-1", b"1e999", b" "),
        ]
    )
    | st.binary(max_size=8),
    max_size=60,
)


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize("media_type", [SSE, JSON])
@given(chunks=st.lists(BYTES, max_size=4), grown=st.booleans())
def test_any_bytes_are_read_without_an_exception(name, media_type, chunks, grown):
    padding = b" " * (BUFFERED_EVENT + 1) if grown else b""
    usage_reader = read(name, [padding + b"".join(piece) for piece in chunks], media_type)
    usage_reader.usage()
    usage = usage_reader.complete(ESTIMATE)
    assert usage.input >= 0
    assert usage.output >= 0

"""A response is decoded as it arrives, whatever the size of the whole."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from engine.upstream.client.failures import InvalidAnswer, Truncated
from engine.upstream.decoded_response import DecodedResponse
from engine.values.content_coding import decoder
from tests.support.upstreams import EVENTS, FakeResponse

ENCODED = [("content-encoding", "gzip"), ("content-length", "9"), ("etag", "x"), *EVENTS]


def response(*pieces: bytes, **more: Any) -> tuple[DecodedResponse, FakeResponse]:
    received: Any = FakeResponse(200, ENCODED, pieces, **more)
    decoding = decoder("gzip")
    assert decoding is not None
    return DecodedResponse(received, decoding), received


def test_its_headers_do_not_describe_the_encoded_body() -> None:
    read, _ = response()
    assert read.headers == EVENTS


def test_it_is_decoded_in_parts_and_complete_at_its_end() -> None:
    data = gzip.compress(b"one two three")
    read, _ = response(data[:15], data[15:], has_length=True)
    text = read.read()
    assert not read.is_complete
    while part := read.read():
        text += part
    assert text == b"one two three"
    assert read.is_complete


def test_what_was_read_can_be_read_again() -> None:
    read, _ = response(gzip.compress(b"one"), has_length=True)
    read.unread(read.read())
    assert not read.is_complete
    assert (read.read(), read.read()) == (b"one", b"")


def test_it_may_be_longer_than_an_answer_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.values.content_coding.MAX_DECODED", 1_000)
    data = b"".join(gzip.compress(b"x" * 900) for _ in range(5))
    size = len(data) // 5
    read, _ = response(*(data[at : at + size] for at in range(0, len(data), size)))
    assert len(b"".join(iter(read.read, b""))) == 4_500


def test_one_part_decodes_to_no_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.values.content_coding.MAX_DECODED", 1_000)
    read, received = response(gzip.compress(b"x" * 2_000))
    with pytest.raises(InvalidAnswer, match="more than 1000 bytes"):
        list(iter(read.read, b""))
    assert received.closed


@pytest.mark.parametrize(
    ("data", "kind"),
    [(gzip.compress(b"one")[:-4], Truncated), (b"no gzip", InvalidAnswer)],
    ids=["cut", "wrong"],
)
def test_what_is_cut_or_wrong_fails(data: bytes, kind: Any) -> None:
    read, _ = response(data)
    with pytest.raises(kind) as excinfo:
        list(iter(read.read, b""))
    assert (excinfo.value.request_sent, excinfo.value.response_started) == (True, True)
    assert not read.is_complete

"""Filters for bodies of any format."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from engine.relay.filter import Decoding, Filter, Unreadable
from engine.values.content_coding import Decoder, decoder
from tests.support.each import each


def gunzip() -> Decoding:
    decoding = decoder("gzip")
    assert decoding is not None
    return Decoding(decoding)


def test_a_filter_passes_all_unless_it_says_otherwise() -> None:
    body = Filter()
    assert (body.feed(b"a"), body.finish(), body.failure, body.ended) == (b"a", b"", None, False)


def test_nothing_follows_the_last_piece_of_a_body_that_has_failed() -> None:
    class Ending(Filter):
        def finish(self) -> bytes:
            return b"!"

    body = Ending()
    assert (body.feed_last(b"a"), body.feed_last(b"")) == (b"a!", b"!")
    body.failure = Unreadable("it is a word")
    assert body.feed_last(b"a") == b"a"


def test_a_decoded_body_may_be_longer_than_the_bound_of_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.values.content_coding.MAX_DECODED", 1_000)
    body, part = gunzip(), gzip.compress(b"x" * 900)
    assert len(b"".join(body.feed(part) for _ in range(5)) + body.finish()) == 4_500
    assert body.failure is None


def test_a_part_is_decoded_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.values.content_coding.PIECE", 400)
    body, text = gunzip(), b"0123456789" * 100
    pieces = [body.feed(gzip.compress(text))]
    while body.has_more:
        pieces.append(body.more())
    assert list(map(len, pieces)) == [400, 400, 200]
    assert (b"".join(pieces), body.more(), body.finish()) == (text, b"", b"")
    assert body.failure is None


def test_what_comes_before_bytes_that_cannot_be_decoded_passes() -> None:
    body = gunzip()
    assert body.feed(gzip.compress(b"one") + b"\x1fno gzip") == b"one"
    assert (type(body.failure), body.more()) == (Unreadable, b"")


def test_one_part_decodes_to_no_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.values.content_coding.MAX_DECODED", 1_000)
    body = gunzip()
    body.feed(gzip.compress(b"x" * 2_000))
    assert isinstance(body.failure, Unreadable)
    assert "more than 1000 bytes" in str(body.failure)


def test_an_encoded_body_without_its_end_is_cut() -> None:
    body = gunzip()
    body.feed(gzip.compress(b"one")[:-4])
    assert body.failure is None
    assert body.finish() == b""
    assert isinstance(body.failure, EOFError)


class CountingDecoder(Decoder):
    """Counts the pieces that it has decoded."""

    count = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        for piece in super().feed(data):
            self.count += 1
            yield piece


@each("end", [0, 4])
def test_no_more_is_decoded_than_is_read(end: int) -> None:
    """A few bytes may decode to megabytes, which would hold the event loop, and memory."""
    decoding = CountingDecoder("gzip")
    body = Decoding(decoding)
    data = gzip.compress(b"x" * 1_000_000)
    size, count = len(body.feed_last(data[: len(data) - end])), 1
    assert decoding.count == 2  # the next one says whether there is one
    while body.has_more:
        assert body.failure is None
        size, count = size + len(body.more()), count + 1
        assert decoding.count <= count + 1
    assert size == 1_000_000
    assert isinstance(body.failure, EOFError) is bool(end)

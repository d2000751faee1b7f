"""Filters for bodies of any format: decoded in parts, or changed as a whole."""

from __future__ import annotations

import gzip

import pytest

from engine.relay.filter import Decoding, Filter, Unreadable, WholeBody
from engine.values.content_coding import decoder


def gunzip() -> Decoding:
    decoding = decoder("gzip")
    assert decoding is not None
    return Decoding(decoding)


def test_a_filter_passes_all_unless_it_says_otherwise() -> None:
    body = Filter()
    assert (body.feed(b"a"), body.finish(), body.failure, body.ended) == (b"a", b"", None, False)


def test_a_decoded_body_may_be_longer_than_the_bound_of_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.values.content_coding.MAX_DECODED", 1_000)
    body, part = gunzip(), gzip.compress(b"x" * 900)
    assert len(b"".join(body.feed(part) for _ in range(5)) + body.finish()) == 4_500
    assert body.failure is None


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


def whole(*pieces: bytes, max_bytes: int = 9, encoding: str = "") -> tuple[WholeBody, list[bytes]]:
    """A body that was fed until it failed, and its parts."""
    parts: list[bytes] = []
    body = WholeBody(max_bytes, encoding, parts.append)
    for piece in pieces:
        assert body.feed(piece) == b""
        if body.failure is not None:
            break
    return body, parts


def test_a_whole_body_passes_at_its_end() -> None:
    body, parts = whole(b"ab", b"c", max_bytes=3)
    assert (body.finish(), body.failure, parts) == (b"abc", None, [b"ab", b"c"])
    body, _ = whole(gzip.compress(b"ab"), max_bytes=99, encoding="gzip")
    assert body.finish() == b"ab"


def test_a_whole_body_is_bounded_and_its_parts_are_seen_before_it_fails() -> None:
    body, parts = whole(b"ab", b"c", b"d", max_bytes=2)
    assert str(body.failure) == "the upstream's answer has over 2 bytes"
    assert parts == [b"ab", b"c"]


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("br", b"?"), ("gzip", gzip.compress(b"a")[:-4])],
    ids=["unknown", "cut"],
)
def test_a_whole_body_that_cannot_be_decoded_is_unreadable(encoding: str, data: bytes) -> None:
    body, _ = whole(data, max_bytes=99, encoding=encoding)
    assert body.finish() == b""
    assert isinstance(body.failure, Unreadable)

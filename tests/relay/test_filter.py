"""Filters for bodies of any format: decoded in parts, or changed as a whole."""

from __future__ import annotations

import errno
import gzip
import os

import pytest

from engine.relay.filter import LARGE, UNCHANGEABLE, Decoding, Filter, Unreadable, WholeBody
from engine.relay.sse import NotAnEvent
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


class Doubling(WholeBody):
    """Writes its body twice; `changes` counts the changes in this process."""

    changes = 0

    def change(self, text: bytes) -> bytes:
        self.changes += 1
        if text.startswith(b"bad"):
            self.failure = NotAnEvent(text)
            return b""
        if text.startswith(b"dies"):
            os._exit(1)
        if text.startswith(b"fails"):
            raise ZeroDivisionError
        return text + text


def double(text: bytes) -> tuple[bytes, Doubling]:
    """A large body after its change."""
    body = Doubling(100_000_000, "", lambda data: None)
    body.feed(text)
    data = body.finish()
    while body.has_more:
        data += body.more()
    return data, body


@pytest.mark.parametrize("size", [LARGE, LARGE + 1, LARGE * 3])
def test_a_large_body_is_changed_in_another_process(size: int) -> None:
    text = os.urandom(size)
    data, body = double(text)
    assert data == text * 2
    assert body.changes == (size <= LARGE)
    assert len(body.received) <= LARGE  # a large one is not held while it is sent


def test_a_large_body_passes_in_parts() -> None:
    body = Doubling(100_000_000, "", lambda data: None)
    body.feed(b"x" * 2 * LARGE)
    assert 0 < len(body.finish()) < LARGE
    assert body.has_more
    body.close()
    assert not body.has_more


def test_the_failure_of_a_large_body_comes_back() -> None:
    text = b"bad" + b"x" * LARGE
    data, body = double(text)
    assert data == b""
    assert isinstance(body.failure, NotAnEvent)
    assert body.failure.text == text


@pytest.mark.parametrize(
    ("beginning", "reason"),
    [(b"dies", "ended without a result"), (b"fails", "failed: ZeroDivisionError")],
)
def test_a_process_that_fails_makes_a_large_body_unreadable(
    beginning: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    data, body = double(beginning + b"x" * LARGE)
    assert (data, type(body.failure)) == (b"", Unreadable)
    assert str(body.failure) == UNCHANGEABLE  # nothing of ours
    assert reason in caplog.text


def test_a_disk_without_room_makes_a_large_body_unreadable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("engine.relay.filter.tempfile.TemporaryFile", full)
    _, body = double(b"x" * 2 * LARGE)
    assert str(body.failure) == UNCHANGEABLE
    assert "No space left on device" in caplog.text

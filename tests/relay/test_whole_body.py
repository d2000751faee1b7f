"""A body that is changed as a whole."""

from __future__ import annotations

import errno
import gzip
import os

import pytest

from engine.relay.filter import Unreadable
from engine.relay.held_body import LARGE
from engine.relay.sse import NotAnEvent
from engine.relay.whole_body import UNCHANGED, WholeBody
from engine.values.errors import GatewayError

UNCHANGED_ANSWER = "The gateway could not translate or edit the answer. Try again later."


def refusal(body: WholeBody) -> tuple[int, str, str]:
    """Why a body cannot be changed, of which nothing passes."""
    assert isinstance(body.failure, GatewayError)
    assert ("x-should-retry", "false") in body.failure.headers  # the upstream would charge again
    return body.failure.status, body.failure.code, body.failure.message


def body_of(
    *pieces: bytes, max_bytes: int = 9, encoding: str = ""
) -> tuple[WholeBody, list[bytes]]:
    """A body that was fed until it failed, and its parts."""
    parts: list[bytes] = []
    body = WholeBody(max_bytes, encoding, parts.append)
    for piece in pieces:
        assert body.feed(piece) == b""
        if body.failure is not None:
            break
    return body, parts


def test_a_whole_body_passes_at_its_end() -> None:
    body, parts = body_of(b"ab", b"c", max_bytes=3)
    assert (body.finish(), body.failure, parts) == (b"abc", None, [b"ab", b"c"])
    body, _ = body_of(gzip.compress(b"ab"), max_bytes=99, encoding="gzip")
    assert body.finish() == b"ab"


def test_a_whole_body_is_bounded_and_its_parts_are_seen_before_it_fails() -> None:
    body, parts = body_of(b"ab", b"c", b"d", max_bytes=2)
    assert str(body.failure) == "the upstream's answer has over 2 bytes"
    assert parts == [b"ab", b"c"]


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("br", b"?"), ("gzip", gzip.compress(b"a")[:-4])],
    ids=["unknown", "cut"],
)
def test_a_whole_body_that_cannot_be_decoded_is_unreadable(encoding: str, data: bytes) -> None:
    body, _ = body_of(data, max_bytes=99, encoding=encoding)
    assert body.finish() == b""
    assert isinstance(body.failure, Unreadable)


def test_a_body_in_one_piece_passes_at_once() -> None:
    body, parts = body_of(max_bytes=3)
    assert (body.feed_last(b"abc"), body.failure, parts) == (b"abc", None, [b"abc"])
    body, parts = body_of(b"a", max_bytes=3)
    assert (body.feed_last(b"bc"), body.failure, parts) == (b"abc", None, [b"a", b"bc"])


def test_a_body_in_one_piece_is_bounded() -> None:
    body, parts = body_of(max_bytes=2)
    assert (body.feed_last(b"abc"), parts) == (b"", [b"abc"])
    assert str(body.failure) == "the upstream's answer has over 2 bytes"


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


def double(*parts: bytes, encoding: str = "") -> tuple[bytes, Doubling]:
    """A large body after its change."""
    body = Doubling(100_000_000, encoding, lambda data: None)
    for part in parts:
        body.feed(part)
    data = body.finish()
    while body.has_more:
        data += body.more()
    return data, body


@pytest.mark.parametrize(
    ("encoding", "data", "changes"),
    [
        ("", bytes(LARGE), 1),
        ("", bytes(LARGE + 1), 0),
        ("gzip", gzip.compress(bytes(LARGE)), 1),
        ("gzip", gzip.compress(bytes(LARGE + 1)), 0),
    ],
    ids=["small", "large", "small when decoded", "large when decoded"],
)
def test_a_large_body_in_one_piece_is_changed_in_another_process(
    encoding: str, data: bytes, changes: int
) -> None:
    body = Doubling(100_000_000, encoding, lambda part: None)
    body.feed_last(data)
    assert (body.changes, body.failure) == (changes, None)
    body.close()


@pytest.mark.parametrize("size", [LARGE, LARGE + 1, LARGE * 3])
def test_a_large_body_is_changed_in_another_process(size: int) -> None:
    text = os.urandom(size)
    data, body = double(text)
    assert data == text * 2
    assert body.changes == (size <= LARGE)
    assert len(body.received) <= LARGE  # a large one is not held while it is sent


def test_a_large_body_arrives_in_parts() -> None:
    parts = [os.urandom(LARGE // 2) for _ in range(5)]
    data, body = double(*parts)
    assert (data, body.changes) == (b"".join(parts) * 2, 0)


@pytest.mark.parametrize(("size", "changes"), [(LARGE, 1), (LARGE + 1, 0)])
def test_an_encoded_body_is_as_large_as_its_text(size: int, changes: int) -> None:
    encoded = gzip.compress(b"x" * size)
    data, body = double(encoded[:100], encoded[100:], encoding="gzip")
    assert (data, body.changes) == (b"x" * size * 2, changes)


def test_encoded_text_that_breaks_is_unreadable() -> None:
    encoded = gzip.compress(b"x" * LARGE * 2)
    data, body = double(encoded[:20], b"?" * 100, encoding="gzip")
    assert (data, type(body.failure)) == (b"", Unreadable)


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
def test_a_large_body_is_refused_if_the_process_for_it_fails(
    beginning: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    data, body = double(beginning + b"x" * LARGE)
    assert (data, refusal(body)) == (b"", (503, UNCHANGED, UNCHANGED_ANSWER))  # nothing of ours
    assert reason in caplog.text


def test_a_large_body_is_refused_if_the_disk_has_no_room(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("engine.relay.held_body.tempfile.TemporaryFile", full)
    _, body = double(b"x" * 2 * LARGE)
    assert refusal(body) == (503, UNCHANGED, UNCHANGED_ANSWER)
    assert "No space left on device" in caplog.text


def test_a_large_body_is_refused_without_descriptors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def none_left(name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("os.memfd_create", none_left)
    body = Doubling(100_000_000, "", lambda data: None)
    body.feed(b"x" * 2 * LARGE)
    assert refusal(body) == (503, UNCHANGED, UNCHANGED_ANSWER)
    assert "Too many open files" in caplog.text

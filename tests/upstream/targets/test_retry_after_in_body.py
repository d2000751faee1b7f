"""The time to wait that the body of an error names becomes a header."""

from __future__ import annotations

import gzip
import json
from typing import Any

from engine.upstream.client import failures
from engine.upstream.targets.retry_after_in_body import note_wait
from tests.support.each import each
from tests.support.upstreams import JSON, FakeResponse, failure

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.4s"}
ERROR = {"error": {"code": 429, "message": "slow down", "details": [{"reason": "x"}, RETRY]}}


def noted(body: bytes, *headers: tuple[str, str]) -> FakeResponse:
    received: Any = FakeResponse(429, [*JSON, *headers], [body[:9], body[9:]])
    note_wait(received, received)
    left = b"".join(received.pieces)
    assert left == body  # it is read again
    return received  # type: ignore[no-any-return]


@each(
    ("document", "expected"),
    [
        (ERROR, "37"),
        ([ERROR], "37"),
        (ERROR["error"], "37"),
        ({"error": {"details": [{"retryDelay": "0s"}]}}, None),
        ({"error": {"details": [{"retryDelay": "soon"}, 7]}}, None),
        ({"error": {"details": {"retryDelay": "1s"}}}, None),
        ({"error": "slow down"}, None),
        ([], None),
        ("slow down", None),
    ],
)
def test_the_delay_is_rounded_up_to_seconds(document: Any, expected: str | None) -> None:
    assert noted(json.dumps(document).encode()).header("retry-after") == expected


def test_an_encoded_body_is_read_too() -> None:
    packed = gzip.compress(json.dumps(ERROR).encode())
    assert noted(packed, ("content-encoding", "gzip")).header("retry-after") == "37"


@each("late", [[5.0, b"{}"], [b"{", 5.0, b"}"]])
def test_a_body_that_is_late_is_left(late: list[bytes | float]) -> None:
    received: Any = FakeResponse(429, JSON, late)
    note_wait(received, received)
    assert received.header("retry-after") is None
    assert received.pieces[-1] == late[-1]


def test_a_body_that_comes_in_drops_is_left_after_a_second() -> None:
    drops = [b" "] * 50
    received: Any = FakeResponse(429, JSON, drops)
    times = iter(range(100))
    note_wait(received, received, clock=lambda: next(times) / 10)
    assert b"".join(received.pieces) == b"".join(drops)
    assert len(received.pieces) > 40


def test_a_body_that_breaks_off_fails_for_its_reader() -> None:
    received: Any = FakeResponse(429, JSON, [b"{", failure(failures.Truncated)])
    note_wait(received, received)
    assert received.header("retry-after") is None
    assert received.pieces[0] == b"{"


@each("header", ["retry-after", "retry-after-ms"])
def test_a_header_of_the_upstream_counts(header: str) -> None:
    received = noted(json.dumps(ERROR).encode(), (header, "5"))
    assert [value for name, value in received.headers if name.startswith("retry")] == ["5"]

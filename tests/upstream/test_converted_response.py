"""A response whose stream has another framing is read as one with server-sent events."""

from __future__ import annotations

from typing import Any

import pytest

from engine.relay.amazon_events import AmazonEvents
from engine.relay.framing import ArrayEvents
from engine.upstream.client.failures import (
    InvalidAnswer,
    Reset,
    Silence,
    Truncated,
    UpstreamFailure,
)
from engine.upstream.converted_response import ConvertedResponse
from tests.support.amazon_events import AMAZON_EVENTS, event
from tests.support.upstreams import FakeResponse

A, B = event("messageStart", {"role": "assistant"}), event("messageStop", {"stopReason": "x"})
AS_EVENTS = (
    b'data: {"messageStart":{"role":"assistant"}}\n\n',
    b'data: {"messageStop":{"stopReason":"x"}}\n\n',
)


def response(*pieces: Any, **more: Any) -> tuple[ConvertedResponse, FakeResponse]:
    received = FakeResponse(200, AMAZON_EVENTS, pieces, **more)
    return ConvertedResponse(received, AmazonEvents()), received  # type: ignore[arg-type]


def test_events_are_read_until_the_end() -> None:
    read, _ = response(A + B[:5], B[5:20], B[20:], has_length=True)
    assert not read.is_complete
    assert (read.read(), read.read(), read.read()) == (*AS_EVENTS, b"")
    assert read.is_complete


def test_events_are_passed_while_they_arrive() -> None:
    read, _ = response(A[:9], A[9:], B)
    pieces: list[bytes] = []
    assert read.read(pieces.append) == AS_EVENTS[1]
    assert pieces == [AS_EVENTS[0]]


def test_an_end_inside_a_message_is_no_end() -> None:
    read, received = response(A, B[:-1])
    assert read.read() == AS_EVENTS[0]
    for _ in range(2):
        with pytest.raises(Truncated):
            read.read()
    assert not read.is_complete
    assert received.closed


WRONG = A[:-1] + b"\0"


def test_a_wrong_checksum_is_a_failure_behind_the_events_before_it() -> None:
    read, received = response(A + WRONG, B)
    assert read.read() == AS_EVENTS[0]
    with pytest.raises(
        InvalidAnswer, match="event stream has a message with a wrong checksum"
    ) as excinfo:
        read.read()
    assert (excinfo.value.request_sent, excinfo.value.response_started) == (True, True)
    assert received.closed


def test_a_wrong_checksum_ends_what_is_passed() -> None:
    read, _ = response(A + WRONG, B)
    pieces: list[bytes] = []
    with pytest.raises(InvalidAnswer):
        read.read(pieces.append)
    assert pieces == [AS_EVENTS[0]]


def test_a_failure_of_the_connection_is_raised_as_it_is() -> None:
    read, _ = response(A, Reset())
    assert read.read() == AS_EVENTS[0]
    with pytest.raises(UpstreamFailure) as excinfo:
        read.read()
    assert excinfo.type is Reset


def test_a_silence_is_raised_and_can_be_read_on_behind() -> None:
    read, _ = response(A[:9], 2.0, A[9:])
    with pytest.raises(Silence):
        read.read(beat=1.0)
    with pytest.raises(Silence):
        read.read(beat=1.0)
    assert read.read(beat=1.5) == AS_EVENTS[0]


def test_an_array_is_converted_up_to_an_item_that_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.relay.framing.MAX_EVENT", 100)
    received: Any = FakeResponse(200, [], [b'[{"a":1},{"b":"', b"x" * 200])
    read = ConvertedResponse(received, ArrayEvents())
    assert read.header("content-type") == "text/event-stream"
    assert read.read() == b'data: {"a":1}\n\n'
    with pytest.raises(InvalidAnswer, match="an item of more than 100 bytes"):
        read.read()

"""A response with an Amazon event stream is read as one with server-sent events."""

from __future__ import annotations

from typing import Any

import pytest

from engine.upstream.amazon_response import AmazonResponse, error_code, with_server_sent_events
from engine.upstream.client.failures import (
    InvalidAnswer,
    Reset,
    Silence,
    Truncated,
    UpstreamFailure,
)
from tests.support.amazon_events import AMAZON_EVENTS, event
from tests.support.upstreams import EVENTS, JSON, FakeResponse

A, B = event("messageStart", {"role": "assistant"}), event("messageStop", {"stopReason": "x"})
AS_EVENTS = (
    b'data: {"messageStart":{"role":"assistant"}}\n\n',
    b'data: {"messageStop":{"stopReason":"x"}}\n\n',
)


def response(*pieces: Any, **more: Any) -> tuple[AmazonResponse, FakeResponse]:
    received = FakeResponse(200, AMAZON_EVENTS, pieces, **more)
    read = with_server_sent_events(received)  # type: ignore[arg-type]
    assert isinstance(read, AmazonResponse)
    return read, received


@pytest.mark.parametrize("headers", [JSON, EVENTS, []])
def test_another_response_is_itself(headers: Any) -> None:
    other: Any = FakeResponse(200, headers)
    assert with_server_sent_events(other) is other


def test_its_headers_describe_server_sent_events() -> None:
    headers = [*AMAZON_EVENTS, ("content-length", "9"), ("x-amzn-requestid", "r")]
    received: Any = FakeResponse(200, headers, [A], length=9)
    read = with_server_sent_events(received)
    assert read.headers == [("x-amzn-requestid", "r"), ("content-type", "text/event-stream")]
    assert (read.status, read.length, read.header("content-type")) == (
        200,
        None,
        "text/event-stream",
    )


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


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("ThrottlingException", "ThrottlingException"),
        ("ThrottlingException:http://internal.amazon.com/coral/", "ThrottlingException"),
        ("com.amazon.coral#ThrottlingException:", "ThrottlingException"),
        ("two words", ""),
        ("", ""),
        ("E" * 101, ""),
    ],
)
def test_the_name_of_an_error_is_in_a_header(value: str, code: str) -> None:
    received: Any = FakeResponse(429, [("x-amzn-errortype", value)])
    assert error_code(received) == code


def test_most_responses_name_no_error() -> None:
    received: Any = FakeResponse(429, JSON)
    assert error_code(received) == ""

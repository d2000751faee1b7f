"""A response with an Amazon event stream is read as one with server-sent events."""

from __future__ import annotations

from typing import Any

import pytest

from engine.upstream.amazon_response import error_code, with_server_sent_events
from tests.support.amazon_events import AMAZON_EVENTS
from tests.support.upstreams import EVENTS, JSON, FakeResponse


@pytest.mark.parametrize("headers", [JSON, EVENTS, []])
def test_another_response_is_itself(headers: Any) -> None:
    other: Any = FakeResponse(200, headers)
    assert with_server_sent_events(other) is other


def test_its_headers_describe_server_sent_events() -> None:
    headers = [*AMAZON_EVENTS, ("content-length", "9"), ("x-amzn-requestid", "r")]
    received: Any = FakeResponse(200, headers, [], length=9)
    read = with_server_sent_events(received)
    assert read.headers == [("x-amzn-requestid", "r"), ("content-type", "text/event-stream")]
    assert (read.status, read.length, read.header("content-type")) == (
        200,
        None,
        "text/event-stream",
    )


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

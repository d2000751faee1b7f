"""An upstream's response with the edits of its transforms."""

from __future__ import annotations

from typing import Any

import pytest

from engine import dialects
from engine.upstream.client.failures import InvalidAnswer, Silence, Truncated
from engine.upstream.responses.edited_response import edited_response
from tests.support.upstreams import EVENTS, JSON, FakeResponse
from tests.transforms.test_response_edits import editor

REMOVE = {"body": {"remove": ["usage", "x"]}, "header": {"remove": ["x-a"]}}
USAGE = b'"usage": {"prompt_tokens": 3, "completion_tokens": 4}'


def response(*pieces: Any, headers: Any = JSON, edits: Any = None, **more: Any) -> Any:
    received: Any = FakeResponse(200, [*headers, ("x-a", "1"), ("etag", "e")], pieces, **more)
    return edited_response(received, editor(edits or REMOVE), "POST", dialects.get("openai"))


def test_json_is_read_as_a_whole_and_edited() -> None:
    read = response(b'{"id": 1, ', USAGE + b"}", length=9)
    assert (read.length, read.headers) == (None, list(JSON))
    assert read.read() == b'{"id": 1}'
    assert read.read() == b""


def test_json_that_arrives_slowly_is_edited_as_a_whole() -> None:
    read = response(b'{"id": 1, ', 2.0, USAGE + b"}")
    with pytest.raises(Silence):
        read.read(beat=1.0)
    assert (read.read(beat=9.0), read.read()) == (b'{"id": 1}', b"")


def test_usage_is_read_before_an_edit_hides_it() -> None:
    read = response(b"{" + USAGE + b"}")
    read.read()
    assert (read.usage.reported().input, read.usage.reported().output) == (3, 4)


def test_events_are_edited_and_their_usage_is_read() -> None:
    event = b'data: {"choices": [], ' + USAGE + b"}\n\n"
    read = response(b'data: {"x": 1}\n', b"\n" + event[:9], event[9:], headers=EVENTS)
    assert read.read() == b"data: {}\n\n"
    assert read.read() == b'data: {"choices": []}\n\n'
    assert read.read() == b""
    assert read.usage.reported().output == 4


@pytest.mark.parametrize("end", [b"\n\n", b"\n", b""])
def test_usage_is_read_from_an_event_without_its_blank_line(end: bytes) -> None:
    read = response(
        b'data: {"x": 1}\n\n', b'data: {"choices": [], ' + USAGE + b"}" + end, headers=EVENTS
    )
    while read.read():
        pass
    assert read.usage.reported().output == 4


def test_events_are_passed_while_they_arrive() -> None:
    pieces: list[bytes] = []
    read = response(b'data: {"x": 1}\n\n', b'data: {"y"', b": 1}\n\n", headers=EVENTS)
    while data := read.read(pieces.append):
        pieces.append(data)
    assert b"".join(pieces) == b'data: {}\n\ndata: {"y": 1}\n\n'


def test_a_body_that_breaks_off_is_not_complete() -> None:
    read = response(b"{", Truncated())
    with pytest.raises(Truncated):
        read.read()


@pytest.mark.parametrize("headers", [JSON, EVENTS])
def test_a_body_that_cannot_be_decoded_is_no_answer(headers: Any) -> None:
    with pytest.raises(InvalidAnswer):
        response(b"?", headers=[*headers, ("content-encoding", "br")]).read()


def test_a_body_without_edits_passes() -> None:
    edits = {"header": {"remove": ["x-a"]}}
    read = response(b'{"x": 1}', headers=[("content-encoding", "br")], edits=edits, length=8)
    assert (read.length, read.usage) == (8, None)
    assert read.header("etag") == "e"
    assert read.read() == b'{"x": 1}'


def test_it_is_closed_with_the_response() -> None:
    received: Any = FakeResponse()
    edited_response(received, editor(REMOVE), "POST", dialects.get("openai")).close()
    assert received.closed == 1

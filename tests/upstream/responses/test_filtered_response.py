"""A response is read through a filter: what passes, how it fails, when it is complete."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from engine import dialects
from engine.relay.amazon_events import AmazonEvents
from engine.relay.filter import Decoding, Filter, Unreadable, unreadable
from engine.relay.framing import ArrayEvents
from engine.upstream.client.failures import (
    InvalidAnswer,
    Reset,
    Silence,
    Truncated,
    UpstreamFailure,
)
from engine.upstream.responses.filtered_response import FilteredResponse, edited_response
from engine.values.content_coding import decoder
from tests.support.amazon_events import event
from tests.support.upstreams import EVENTS, JSON, FakeResponse
from tests.transforms.test_response_edits import editor


class UpperCase(Filter):
    """A body in capitals; blanks come to nothing, a `!` fails behind what precedes it, a `.` is the
    end of what counts."""

    _ended = False

    @property
    def ended(self) -> bool:
        return self._ended

    def feed(self, data: bytes) -> bytes:
        self._ended = self._ended or b"." in data
        text, mark, _ = data.strip().partition(b"!")
        if mark:
            self.failure = Unreadable("no exclamations")
        return text.upper()

    def finish(self) -> bytes:
        return b"END"


def response(
    *pieces: Any, body: Filter | None = None, **more: Any
) -> tuple[FilteredResponse, FakeResponse]:
    received: Any = FakeResponse(200, JSON, pieces, **more)
    return FilteredResponse(received, [*JSON, ("x-a", "1")], body or UpperCase()), received


def passed(read: Callable[..., bytes]) -> list[bytes]:
    """All parts, those that are passed while they arrive included."""
    parts: list[bytes] = []
    while data := read(parts.append):
        parts.append(data)
    return parts


def test_it_has_the_status_and_its_own_headers() -> None:
    read, _ = response(length=9)
    assert (read.status, read.length, read.header("x-a")) == (200, None, "1")
    assert read.header("x-b") is None


def test_what_comes_to_nothing_is_read_over() -> None:
    read, received = response(b"a", b"\n", b"\n", b"b")
    assert [read.read() for _ in range(4)] == [b"A", b"B", b"END", b""]
    assert received.closed


def test_what_is_passed_is_filtered_too() -> None:
    assert passed(response(b"a", b"\n", b"b")[0].read) == [b"A", b"B", b"END"]


def test_a_body_that_passes_unchanged_is_itself() -> None:
    assert passed(response(b"a", b"\n", body=Filter())[0].read) == [b"a", b"\n"]


def test_the_last_part_is_finished_at_once_where_its_end_is_known() -> None:
    read, _ = response(b"a", b"b", has_length=True)
    assert (read.read(), read.is_complete) == (b"A", False)
    assert (read.read(), read.is_complete) == (b"BEND", True)
    assert read.read() == b""


def test_what_was_read_can_be_read_again() -> None:
    read, _ = response(b"one", has_length=True)
    read.unread(read.read())
    assert not read.is_complete
    assert (read.read(), read.read(), read.is_complete) == (b"ONEEND", b"", True)


def test_a_body_may_be_replaced() -> None:
    read, _ = response(b"a", b"b")
    read.end_with(b"c")
    assert not read.is_complete
    assert (read.read(), read.is_complete, read.read()) == (b"c", True, b"")


# Failures.


def test_a_failure_follows_what_preceded_it() -> None:
    read, received = response(b"a!", b"b", has_length=True)
    assert read.read() == b"A"
    for _ in range(2):
        with pytest.raises(InvalidAnswer, match="no exclamations") as excinfo:
            read.read()
        assert (excinfo.value.request_sent, excinfo.value.response_started) == (True, True)
    assert not read.is_complete
    assert received.closed


def test_a_failure_in_the_last_part_is_one() -> None:
    read, _ = response(b"a!", has_length=True)
    assert (read.read(), read.is_complete) == (b"A", False)
    with pytest.raises(InvalidAnswer):
        read.read()


def test_a_failure_while_parts_are_passed_is_raised() -> None:
    read, _ = response(b"a!", b"b")
    parts: list[bytes] = []
    for _ in range(2):
        with pytest.raises(InvalidAnswer):
            read.read(parts.append)
    assert parts == [b"A"]


def test_a_body_that_cannot_be_read_at_all_fails_at_once() -> None:
    read, received = response(b"a", body=unreadable("no body"))
    with pytest.raises(InvalidAnswer, match="no body"):
        read.read()
    assert received.closed


def test_a_failure_of_the_connection_is_raised_as_it_is() -> None:
    read, _ = response(b"a", Reset())
    assert read.read() == b"A"
    with pytest.raises(UpstreamFailure) as excinfo:
        read.read()
    assert excinfo.type is Reset
    assert not read.is_complete


def test_a_failure_of_the_connection_is_the_end_of_a_body_that_has_ended() -> None:
    read, _ = response(b"a.", Reset())
    assert [read.read() for _ in range(3)] == [b"A.", b"END", b""]
    assert read.is_complete


def test_a_silence_is_raised_and_can_be_read_on_behind() -> None:
    read, _ = response(2.0, b"a")
    for _ in range(2):
        with pytest.raises(Silence) as excinfo:
            read.read(beat=1.0)
        assert excinfo.value.since_start
    assert read.read(beat=1.5) == b"A"


def test_a_silence_behind_bytes_that_come_to_nothing_is_not_since_the_start() -> None:
    read, _ = response(b"\n", 2.0, b"a")
    with pytest.raises(Silence) as excinfo:
        read.read(beat=1.5)
    assert not excinfo.value.since_start
    assert read.read(beat=1.5) == b"A"


# Filters that turn a stream into server-sent events.

A, B = event("messageStart", {"role": "assistant"}), event("messageStop", {"stopReason": "x"})
AS_EVENTS = [
    b'data: {"messageStart":{"role":"assistant"}}\n\n',
    b'data: {"messageStop":{"stopReason":"x"}}\n\n',
]


def test_events_are_read_until_the_end() -> None:
    read, _ = response(A + B[:5], B[5:20], B[20:], body=AmazonEvents(), has_length=True)
    assert (read.read(), read.is_complete, read.read()) == (AS_EVENTS[0], False, AS_EVENTS[1])
    assert (read.is_complete, read.read()) == (True, b"")
    assert passed(response(A[:9], A[9:], B, body=AmazonEvents())[0].read) == AS_EVENTS


@pytest.mark.parametrize("has_length", [True, False])
def test_an_end_inside_a_message_is_no_end(has_length: bool) -> None:
    read, received = response(A, B[:-1], body=AmazonEvents(), has_length=has_length)
    assert read.read() == AS_EVENTS[0]
    for _ in range(2):
        with pytest.raises(Truncated) as excinfo:
            read.read()
        assert (excinfo.value.request_sent, excinfo.value.response_started) == (True, True)
    assert not read.is_complete
    assert received.closed


def test_a_wrong_checksum_is_a_failure_behind_the_events_before_it() -> None:
    wrong = A[:-1] + b"\0"
    read, received = response(A + wrong, B, body=AmazonEvents())
    assert read.read() == AS_EVENTS[0]
    with pytest.raises(InvalidAnswer, match="event stream has a message with a wrong checksum"):
        read.read()
    assert received.closed
    parts: list[bytes] = []
    with pytest.raises(InvalidAnswer):
        response(A + wrong, B, body=AmazonEvents())[0].read(parts.append)
    assert parts == [AS_EVENTS[0]]


def test_an_array_is_converted_up_to_an_item_that_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.relay.framing.MAX_EVENT", 100)
    read, _ = response(b'[{"a":1},{"b":"', b"x" * 200, body=ArrayEvents())
    assert read.read() == b'data: {"a":1}\n\n'
    with pytest.raises(InvalidAnswer, match="array has an item of more than 100 bytes"):
        read.read()


# Bodies that are encoded.


def gzipped(*pieces: bytes, **more: Any) -> tuple[FilteredResponse, FakeResponse]:
    decoding = decoder("gzip")
    assert decoding is not None
    return response(*pieces, body=Decoding(decoding), **more)


def test_a_body_is_decoded_in_parts_and_complete_at_its_end() -> None:
    data = gzip.compress(b"one two three")
    read, _ = gzipped(data[:15], data[15:], has_length=True)
    text = read.read()
    assert not read.is_complete
    while part := read.read():
        text += part
    assert text == b"one two three"
    assert read.is_complete


@pytest.mark.parametrize("end", [b"", b"no gzip"])
def test_a_body_that_expands_is_read_in_pieces_and_never_by_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr("engine.values.content_coding.PIECE", 4)
    turns: list[None] = []
    monkeypatch.setattr(
        "engine.upstream.responses.filtered_response.pacer", lambda: lambda: turns.append(None)
    )
    data = gzip.compress(b"one two three")
    read, _ = gzipped(data[:-8], data[-8:] + (b"\x1f" + end if end else b""), has_length=True)
    passed: list[bytes] = []
    parts = [read.read(passed.append) for _ in range(4)]
    assert (parts, passed, len(turns)) == ([b"one ", b"two ", b"thre", b"e"], [], 4)
    if end:
        with pytest.raises(InvalidAnswer):
            read.read()
    else:
        assert (read.read(), read.is_complete) == (b"", True)


@pytest.mark.parametrize(
    ("data", "kind"),
    [(gzip.compress(b"one")[:-4], Truncated), (b"no gzip", InvalidAnswer)],
    ids=["cut", "wrong"],
)
@pytest.mark.parametrize("has_length", [True, False])
def test_what_is_cut_or_wrong_fails(data: bytes, kind: Any, has_length: bool) -> None:
    read, received = gzipped(data, has_length=has_length)
    with pytest.raises(kind) as excinfo:
        list(iter(read.read, b""))
    assert (excinfo.value.request_sent, excinfo.value.response_started) == (True, True)
    assert not read.is_complete
    assert received.closed


REMOVE = {"body": {"remove": ["usage", "x"]}, "header": {"remove": ["x-a"]}}
USAGE = b'"usage": {"prompt_tokens": 3, "completion_tokens": 4}'


def edited(*pieces: Any, headers: Any = JSON, edits: Any = None, **more: Any) -> Any:
    received: Any = FakeResponse(200, [*headers, ("x-a", "1"), ("etag", "e")], pieces, **more)
    return edited_response(received, editor(edits or REMOVE), "POST", dialects.get("openai"))


def test_json_is_read_as_a_whole_and_edited() -> None:
    read = edited(b'{"id": 1, ', USAGE + b"}", length=9)
    assert (read.length, read.headers) == (None, list(JSON))
    assert read.read() == b'{"id": 1}'
    assert read.read() == b""


def test_json_that_arrives_slowly_is_edited_as_a_whole() -> None:
    read = edited(b'{"id": 1, ', 2.0, USAGE + b"}")
    with pytest.raises(Silence):
        read.read(beat=1.0)
    assert (read.read(beat=9.0), read.read()) == (b'{"id": 1}', b"")


def test_usage_is_read_before_an_edit_hides_it() -> None:
    read = edited(b"{" + USAGE + b"}")
    read.read()
    assert (read.usage.reported().input, read.usage.reported().output) == (3, 4)


def test_events_are_edited_and_their_usage_is_read() -> None:
    event = b'data: {"choices": [], ' + USAGE + b"}\n\n"
    read = edited(b'data: {"x": 1}\n', b"\n" + event[:9], event[9:], headers=EVENTS)
    assert read.read() == b"data: {}\n\n"
    assert read.read() == b'data: {"choices": []}\n\n'
    assert read.read() == b""
    assert read.usage.reported().output == 4


@pytest.mark.parametrize("end", [b"\n\n", b"\n", b""])
def test_usage_is_read_from_an_event_without_its_blank_line(end: bytes) -> None:
    read = edited(
        b'data: {"x": 1}\n\n', b'data: {"choices": [], ' + USAGE + b"}" + end, headers=EVENTS
    )
    while read.read():
        pass
    assert read.usage.reported().output == 4


def test_events_are_passed_while_they_arrive() -> None:
    pieces: list[bytes] = []
    read = edited(b'data: {"x": 1}\n\n', b'data: {"y"', b": 1}\n\n", headers=EVENTS)
    while data := read.read(pieces.append):
        pieces.append(data)
    assert b"".join(pieces) == b'data: {}\n\ndata: {"y": 1}\n\n'


def test_a_body_that_breaks_off_is_not_complete() -> None:
    read = edited(b"{", Truncated())
    with pytest.raises(Truncated):
        read.read()


@pytest.mark.parametrize("headers", [JSON, EVENTS])
def test_a_body_that_cannot_be_decoded_is_no_answer(headers: Any) -> None:
    with pytest.raises(InvalidAnswer):
        edited(b"?", headers=[*headers, ("content-encoding", "br")]).read()


def test_a_body_without_edits_passes() -> None:
    edits = {"header": {"remove": ["x-a"]}}
    read = edited(b'{"x": 1}', headers=[("content-encoding", "br")], edits=edits, length=8)
    assert (read.length, read.usage) == (8, None)
    assert read.header("etag") == "e"
    assert read.read() == b'{"x": 1}'


def test_it_is_closed_with_the_response() -> None:
    received: Any = FakeResponse()
    edited_response(received, editor(REMOVE), "POST", dialects.get("openai")).close()
    assert received.closed == 1

"""Edits of responses: which bodies are edited, and events in any pieces."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.transforms import TransformConfig
from engine.transforms.compile import compile_all
from engine.transforms.response_edits import EventEditor, ResponseEditor
from engine.transforms.template import TemplateValues
from engine.values.event_json import LONG_EVENT
from tests.support.exchanges import new_exchange
from tests.support.loop_turns import loop_turns


def editor(*responses):
    configs = [TransformConfig({"response": response}, ()) for response in responses]
    values = TemplateValues(new_exchange(model="m"))
    return ResponseEditor(compile_all(configs, upstream=False), values)


REMOVE = {"body": {"remove": ["a"]}}


@pytest.mark.parametrize(
    ("text", "responses", "after"),
    [
        (b'{ "a":1, "b":2.0}', [REMOVE], b'{ "b":2.0}'),
        (b'{"\\u0061":1}', [REMOVE], b"{}"),
        (b'{"b":1}', [{"body": {"set": {"b": "{model}"}}}], b'{"b":"m"}'),
        (b'{"a":1}', [{"body": {"rename": {"a": "b"}}}, {"body": {"remove": ["b"]}}], b"{}"),
        (b'[{"a":1},{"a":2}]', [{"body": {"remove": ["$[*].a"]}}], b"[{},{}]"),
        (b'{"a":', [REMOVE], b'{"a":'),
        (b'{"a":1,"a":2}', [{"body": {"rename": {"a": "b"}}}], b'{"a":1,"a":2}'),
    ],
)
def test_a_json_body_is_edited(text, responses, after):
    assert editor(*responses).json(text) == after


def test_headers_are_edited():
    header = {"remove": ["x-a"], "rename": {"x-b": "x-c"}, "add": {"x-d": "{model}"}}
    after = editor({"header": header}).headers([("x-a", "1"), ("x-b", "2")])
    assert after == [("x-c", "2"), ("x-d", "m")]


@pytest.mark.parametrize(
    ("method", "status", "kind", "expected"),
    [
        ("POST", 200, "application/json; charset=utf-8", True),
        ("POST", 200, "text/event-stream", True),
        ("POST", 299, "application/problem+json", True),
        ("POST", 206, "application/json", False),
        ("POST", 204, "application/json", False),
        ("POST", 400, "application/json", False),
        ("HEAD", 200, "application/json", False),
        ("POST", 200, "audio/mpeg", False),
    ],
)
def test_json_and_events_of_a_success_are_edited(method, status, kind, expected):
    assert editor(REMOVE).edits_body(method, status, kind) is expected


def test_a_body_without_edits_is_not_edited():
    assert not editor({"header": {"remove": ["a"]}}).edits_body("POST", 200, "application/json")


EVENTS = (
    b': ping\n\nevent: x\ndata: {"a": 1, "b": "\xc3\xa9"}\n\ndata: [DONE]\n\n'
    b'id: 7\r\ndata:{"a":1}\r\n\r\ndata: {"b":\ndata: 1,"a":2}\n\n'
)
EDITED = (
    b': ping\n\nevent: x\ndata: {"b": "\xc3\xa9"}\n\ndata: [DONE]\n\n'
    b'id: 7\r\ndata: {}\r\n\r\ndata: {"b":\ndata: 1}\n\n'
)


def test_the_loop_turns_between_thousands_of_events():
    def turns(data):
        return loop_turns(lambda: EventEditor(editor(REMOVE)).feed(data))

    assert turns(b'data: {"a":1}\n\n' * 2_000) >= 1_000
    assert turns(b'data: {"a":1}\n\n') <= 1


@given(st.lists(st.integers(0, len(EVENTS)), max_size=6))
def test_events_are_edited_in_any_pieces(cuts):
    events = EventEditor(editor(REMOVE))
    places = [0, *sorted(cuts), len(EVENTS)]
    pieces = [EVENTS[start:end] for start, end in pairwise(places)]
    assert b"".join([*map(events.feed, pieces), events.finish()]) == EDITED


def test_an_event_passes_as_soon_as_it_is_complete():
    events = EventEditor(editor(REMOVE))
    assert events.feed(b'data: {"a":1}\n\ndata: {') == b"data: {}\n\n"
    assert events.feed(b"}\n") == b""
    assert events.finish() == b"data: {}\n"


def test_a_long_event_is_not_copied_with_each_part_of_it():
    events, part = EventEditor(editor(REMOVE)), b"x" * 65_536
    events.feed(b'data: {"b": "' + part * 30)
    tracemalloc.start()
    try:
        for _ in range(100):
            assert events.feed(part) == b""
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - after < 5 * len(part)
    assert len(events.feed(b'"}\n\n')) == 13 + 130 * len(part) + 4


@pytest.mark.parametrize(
    "event",
    [
        b'event: x\ndata: {"a":1,"b":"%b"}\n\n',
        b'id: 7\ndata:{"b":"%b",\ndata:"a":1}\nretry: 1\n\n',
        b'data: {"b":"%b"}\n\n',
        b'data: {"a":1,"b":"%b"}\r\n\r\n',
        b": %b\n\n",
        b"data:\nid: %b\n\n",
    ],
)
def test_a_long_event_is_edited_as_a_short_one_in_turns_of_the_loop(event):
    short = event % b"x"
    expected = EventEditor(editor(REMOVE)).feed(EVENTS + short + EVENTS)
    letters = b"x" * (LONG_EVENT + 1)
    data, output = EVENTS.replace(b"\r", b"") + event % letters + EVENTS.replace(b"\r", b""), []
    turns = loop_turns(lambda: output.append(EventEditor(editor(REMOVE)).feed(data)))
    found = output[0].replace(letters, b"x")
    assert found.replace(b"\r", b"").replace(b"data:{", b"data: {") == expected.replace(
        b"\r", b""
    ).replace(b"data:{", b"data: {")
    assert turns >= (0 if b"\r" in event else 4)

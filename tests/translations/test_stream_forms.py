"""Forms of server-sent events and of errors in them, in every crossing.

They are those of the recordings of the official SDKs (`reference/captures/sse-matrix.*`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable

import pytest

from engine.translations import language
from engine.translations.translation import Translation
from tests.support.translation_faults import beginning, events
from tests.support.translations import event_data, translated
from tests.translations.test_answer_properties import NAMES, interrupted, through

Events = list[bytes]
EVERY_CROSSING = pytest.mark.parametrize(("caller", "target"), [*itertools.permutations(NAMES, 2)])


def _before_each(text: bytes) -> Callable[[Events], bytes]:
    return lambda events: b"".join(text + event for event in events)


def _replaced(old: bytes, new: bytes) -> Callable[[Events], bytes]:
    return lambda events: b"".join(events).replace(old, new)


FORMS: dict[str, Callable[[Events], bytes]] = {
    "comments": _before_each(b": hi\n\n"),
    "comments inside events": _before_each(b": hi\n"),
    "a comment of 70 KB": lambda events: b": %b\n\n" % (b"x" * 70_000) + b"".join(events),
    "CRLF": _replaced(b"\n", b"\r\n"),
    "CR": _replaced(b"\n", b"\r"),
    "no space": _replaced(b"data: ", b"data:"),
    "no end mark": _replaced(b"data: [DONE]\n\n", b""),
    "an end mark": lambda events: b"".join([*events, b"data: [DONE]\n\n"]),
    "events without data": _before_each(b"event: x\n\n"),
    "empty data": _before_each(b"data:\n\n"),
    "ids and times to retry": _before_each(b"id: 7\nretry: 3000\n"),
    "ids alone": _before_each(b"id: 7\nretry: 3000\n\n"),
    "a byte order mark": lambda events: b"\xef\xbb\xbf" + b"".join(events),
    "no blank line at the end": lambda events: b"".join(events).rstrip(),
    "more blank lines": _before_each(b"\n\n\n"),
    "no names": lambda events: re.sub(rb"event: .*\n", b"", b"".join(events)),
    "types in names alone": lambda events: re.sub(
        rb'(event: .*\ndata: \{)"type": ?"[^"]*",? ?', rb"\1", b"".join(events)
    ),
    "one line end between events": lambda events: b"".join(
        re.sub(rb"event: .*\n", b"", event).replace(b"\n\n", b"\n") for event in events
    ),
    "data in two lines": lambda events: b"".join(
        re.sub(rb'data: (\{.*?),"', rb'data: \1,\ndata: "', event, count=1) for event in events
    ),
    "events of no kind between them": lambda events: (
        b'event: fancy\ndata: {"type": "fancy"}\n\n'.join([*events, b""])
    ),
    "texts that keep it alive": _before_each(b"data: : keepalive\n\nevent: ping\ndata: hi\n\n"),
    "pings between them": lambda events: b'event: ping\ndata: {"type": "ping"}\n\n'.join(
        [*events, b""]
    ),
}
"""Other forms of a stream, given its events."""

ERRORS: dict[str, bytes] = {
    "OpenAI": b'data: {"error": {"message": "boom", "type": "server_error", "code": null}}\n\n',
    "OpenAI, named": b'event: error\ndata: {"error": {"message": "boom", "type": "x"}}\n\n',
    "Anthropic": b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", '
    b'"message": "boom"}}\n\n',
    "Gemini": b'data: {"error": {"code": 503, "message": "boom", "status": "UNAVAILABLE"}}\n\n',
    "a text": b'data: {"error": "boom"}\n\n',
    "llama.cpp": b'error: {"code": 500, "message": "boom", "type": "server_error"}\n\n',
    "GPUStack": b'error: {"detail": "boom", "error": {"message": "boom"}}\n\n',
    "no JSON": b"event: error\ndata: boom\n\n",
    "null": b"data: null\n\n",
    "no event": b'{"error": {"message": "boom", "type": "server_error"}}\n\n',
    "no event, cut": b'{"error": {"message": "boom", "type": "server_error"}}',
}
"""Errors of each vendor, which any upstream may send: a gateway in front of it wrote them."""


@EVERY_CROSSING
def test_the_form_of_a_stream_changes_nothing(caller: str, target: str) -> None:
    pair = Translation(language(caller), language(target))
    expected = through(pair, [b"".join(events(target))])
    for name, form in FORMS.items():
        stream = form(events(target))
        for size in (len(stream), 7):
            pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
            assert interrupted(pair, pieces) == (expected, None), (name, size)


@EVERY_CROSSING
def test_no_error_is_taken_for_the_end_of_an_answer(caller: str, target: str) -> None:
    pair = Translation(language(caller), language(target))
    whole = events(target)
    for name, error in ERRORS.items():
        for before in ([], beginning(target)):
            for after in ([], whole[len(before) :], [b"data: [DONE]\n\n"]):
                _, failure = interrupted(pair, [b"".join([*before, error, *after])])
                assert failure is not None, (name, len(before), len(after))


ON_LINES = {
    "responses": {
        "id": "r",
        "status": "completed",
        "output": [{"type": "web_search_call", "id": "w", "action": {"queries": ["a"]}}],
    },
    "messages": {
        "content": [{"type": "server_tool_use", "id": "s", "name": "n", "input": {"a": 1}}],
        "stop_reason": "end_turn",
    },
}
"""Answers with what is passed on as it came."""


@pytest.mark.parametrize("name", list(ON_LINES))
def test_an_answer_on_several_lines_becomes_events_on_one(name: str) -> None:
    body = json.dumps(ON_LINES[name], indent=2).encode()
    stream = translated([body], name, name, from_stream=False, stream=True)
    kinds = [json.loads(data)["type"] for data in event_data(stream)]
    assert kinds[-1] in ("response.completed", "message_stop")

"""A whole answer in place of a stream: the vendor's SDK reads its events like the answer itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dialects import get
from engine.dialects.openai.streams import enable, without_usage_event
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import receive
from tests.support import paths
from tests.support.each import each
from tests.support.sayings import saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.translations import CASES

events_of = get("openai").events_of
WHOLE = [
    pytest.param(name, file, id=f"{name}-{file.stem}")
    for name in ("chat_completions", "responses")
    for file in sorted((CASES / name / "upstream").glob("*.json"))
]
NESTED = json.loads("[" * 400 + "]" * 400)
COMPLETION = {
    "id": "cmpl-1",
    "object": "text_completion",
    "choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}],
}


@pytest.mark.parametrize(("name", "file"), WHOLE)
def test_the_sdk_joins_the_events_to_the_answer(name: str, file: Path) -> None:
    body = file.read_bytes()
    joined = as_sdk(name, events_of(json.loads(body)), stream=True)
    assert saying_of(name, joined) == saying_of(name, as_sdk(name, body, stream=False))


def data_of(events: bytes) -> list[Any]:
    lines = [line[6:] for line in events.split(b"\n") if line.startswith(b"data: ")]
    return [line if line == b"[DONE]" else json.loads(line) for line in lines]


def test_members_that_only_a_vendor_knows_are_in_the_events() -> None:
    message = {"role": "assistant", "content": "hi", "reasoning": "hm", "x": 1}
    answer = {"id": "c", "x": 2, "choices": [{"message": message, "matched_stop": 3}]}
    start, end, done = data_of(events_of(answer))
    assert start["choices"] == [
        {"index": 0, "delta": message, "matched_stop": 3, "finish_reason": None}
    ]
    assert (start["x"], end["x"], done) == (2, 2, b"[DONE]")


def test_usage_is_an_event_of_its_own() -> None:
    answer = {"choices": [{"message": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    *_, usage, _ = data_of(events_of(answer))
    assert (usage["choices"], usage["usage"]) == ([], {"prompt_tokens": 3})


def test_a_completion_is_its_own_event() -> None:
    assert data_of(events_of(COMPLETION)) == [COMPLETION, b"[DONE]"]


@each(("status", "end"), [("incomplete", "response.incomplete"), ("failed", "response.failed")])
def test_a_response_ends_with_the_event_of_its_status(status: str, end: str) -> None:
    answer = {"object": "response", "status": status, "output": []}
    start, last = data_of(events_of(answer))
    assert (start["type"], last["type"]) == ("response.created", end)
    assert (start["response"]["status"], last["response"]) == ("in_progress", answer)


def test_a_refusal_is_streamed_as_one() -> None:
    part = {"type": "refusal", "refusal": "no"}
    item = {"type": "message", "id": "m", "content": [part]}
    answer = {"object": "response", "status": "completed", "output": [item, {"type": "x"}]}
    events = data_of(events_of(answer))
    kinds = [event["type"].removeprefix("response.") for event in events]
    assert kinds[1:6] == [
        *("output_item.added", "content_part.added", "refusal.delta", "refusal.done"),
        "content_part.done",
    ]
    assert events[3]["delta"] == "no"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


@each(
    "answer",
    [
        None,
        [],
        "hi",
        {},
        {"error": {"message": "no"}},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"object": "response", "status": "queued"},
        {"object": "response", "status": ["completed"]},
        {"object": "list", "data": []},
    ],
)
def test_another_text_is_no_answer(answer: Any) -> None:
    assert events_of(answer) == b""


@each(
    "answer",
    [
        {"choices": [{"message": {"content": "hi", "x": NESTED}}]},
        {"object": "response", "status": "completed", "output": [], "x": NESTED},
    ],
)
def test_an_answer_that_is_nested_too_deeply_stays_whole(answer: Any) -> None:
    assert events_of(answer) == b""


@each(
    "answer",
    [
        {"choices": [{"message": {"tool_calls": {"a": 1}}}, 7]},
        {"object": "response", "status": "completed", "output": [7, {"type": "message"}]},
        {"object": "response", "status": "completed", "output": {"a": 1}},
    ],
)
def test_odd_members_are_read_over(answer: Any) -> None:
    assert data_of(events_of(answer))


CASES = paths.CASES / "usage"
ENABLED = {"include_usage": True}


def changed(text):
    """The body after the edit; None if there is no edit."""
    data = text.encode()
    change = enable(data, orjson.loads(data))
    return None if change is None else bytes(Body(data).with_edits(change).buffer).decode()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ('{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'),
        (
            ' \n{ "stream" : true }',
            ' \n{"stream_options":{"include_usage":true}, "stream" : true }',
        ),
        (
            '{"stream":true,"stream_options":null}',
            '{"stream":true,"stream_options":{"include_usage":true}}',
        ),
        (
            '{"stream_options": {} ,"stream":true}',
            '{"stream_options": {"include_usage":true} ,"stream":true}',
        ),
        (
            '{"stream":true,"stream_options":{"include_usage":false}}',
            '{"stream":true,"stream_options":{"include_usage":true}}',
        ),
        (
            '{"stream":true,"stream_options":{"include_usage" : null, "x":1}}',
            '{"stream":true,"stream_options":{"include_usage" : true, "x":1}}',
        ),
        (
            '{"stream":true,"stream_options":{"include_obfuscation":false}}',
            '{"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
        ),
        (
            '{"m":[{"stream_options":null}],"stream":true,"stream\\u005foptions":null}',
            '{"m":[{"stream_options":null}],"stream":true,'
            '"stream\\u005foptions":{"include_usage":true}}',
        ),
    ],
)
def test_the_option_is_set_for_a_caller_who_did_not_set_it(text, becomes):
    assert changed(text) == becomes


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "null",
        '{"stream":false}',
        '{"stream":null}',
        '{"stream":1}',
        '{"stream":"true"}',
        '{"stream":true,"stream_options":{"include_usage":true}}',
        '{"stream":true,"stream_options":{"include_usage":"no"}}',
        '{"stream":true,"stream_options":[]}',
        '{"stream":true,"stream_options":"x"}',
        '{"stream":true,"stream_options":null,"stream_options":null}',
    ],
)
def test_other_bodies_are_unchanged(text):
    assert changed(text) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below),
    max_leaves=8,
)


@given(
    before=st.dictionaries(st.text(max_size=6), JSON, max_size=3),
    options=st.none() | st.dictionaries(st.sampled_from(["include_obfuscation", "x"]), JSON),
    indent=st.none() | st.just(2),
    present=st.booleans(),
)
def test_only_the_option_changes(before, options, indent, present):
    value = before | {"stream": True} | ({"stream_options": options} if present else {})
    text = json.dumps(value, indent=indent)
    result = changed(text)
    assert result is not None
    assert json.loads(result) == value | {
        "stream_options": (options or {} if present else {}) | ENABLED
    }


class Pieces:
    def __init__(self, data):
        self.data = data

    def read(self, size, /):
        piece, self.data = self.data[:size], self.data[size:]
        return piece


def test_a_body_on_disk_is_changed_too():
    data = b'{"stream":true,"x":"' + b"A" * 1_500_000 + b'","stream_options":{"x":1}}'
    body = receive(Pieces(data), len(data), 10_000_000)
    change = enable(body.buffer, orjson.loads(data))
    assert change is not None
    data_sent = b"".join(body.with_edits(change).chunks())
    assert orjson.loads(data_sent)["stream_options"] == {"include_usage": True, "x": 1}
    body.close()


STREAMS = [path for path in sorted(CASES.glob("*.sse")) if path.stem.startswith("chat")]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_only_the_usage_event_is_hidden(path):
    head, _, stream = path.read_bytes().partition(b"\n\n")
    events = [event + b"\n\n" for event in stream.split(b"\n\n") if event]
    hidden = json.loads(head[1:]).get("hidden", 0)
    visible = [without_usage_event(event) for event in events]
    assert visible.count(b"") == hidden
    assert [event for event in visible if event] == [e for e in events if e in visible]
    assert without_usage_event(stream) == b"".join(visible)


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"choices":[],"usage":null}\n\n',
        b'data: {"choices":[],"usage":{"x":1},"error":{"message":"m"}}\n\n',
        b'data: {"choices":[{"delta":{}}],"usage":{"x":1}}\n\n',
        b'data: {"choices":[{"delta":{"tool":{"choices":[]}}}],"usage":{"x":1}}\n\n',
        b': "choices":[] "usage"\n\n',
        b'data: {"choices":[],"usage":{"x"\n\n',
        b"data: [DONE]\n\n",
        b"",
    ],
)
def test_other_events_pass(event):
    assert without_usage_event(event) == event

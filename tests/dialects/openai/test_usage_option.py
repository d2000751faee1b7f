"""The option to report usage in a stream, and hiding its event from callers who did not set it."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dialects.openai.streams import enable, without_usage_event
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import receive
from tests.support import paths

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

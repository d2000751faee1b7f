"""The caller's events: whatever they hold, the answer is valid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.realtime import valid
from tests.support.realtime_mock import ask, conversation, receive, refusal, respond, say


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", ("invalid_json", None)),
        ("not JSON", ("invalid_json", None)),
        (b"\xff\xfe", ("invalid_json", None)),
        ("[]", ("invalid_type", None)),
        ("{}", ("invalid_value", "type")),
        ('{"type": 5}', ("invalid_value", "type")),
        ('{"type": "session.created"}', ("invalid_value", "type")),
        ('{"type": "response.cancel", "x": 1}', ("unknown_parameter", "x")),
        ('{"type": "response.create", "response": []}', ("invalid_type", "response")),
        ('{"type": "conversation.item.delete"}', ("missing_required_parameter", "item_id")),
        (
            '{"type": "conversation.item.truncate", "item_id": "a", "content_index": true, '
            '"audio_end_ms": 0}',
            ("invalid_type", "content_index"),
        ),
        (
            '{"type": "response.create", "response": {"input": [5]}}',
            ("invalid_type", "response.input[0]"),
        ),
    ],
)
def test_an_invalid_message_gets_an_error_event(talk, message, error):
    answer = list(talk.receive(message))
    valid(answer[0])
    assert refusal(answer) == error
    say(talk)  # and the session goes on
    assert respond(talk)[-1]["response"]["status"] == "completed"


def test_an_error_names_the_callers_event(talk):
    (error,) = ask(talk, type="conversation.item.delete", event_id="mine", item_id="item_x")
    assert error["error"]["event_id"] == "mine"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=9), below),
    max_leaves=9,
)


names = st.sampled_from(
    [
        *("session.update", "conversation.item.create", "conversation.item.truncate"),
        *("input_audio_buffer.append", "response.create", "response.cancel", "nonsense"),
    ]
)


fields = st.sampled_from(["session", "item", "audio", "response", "item_id", "event_id"])


@given(names, st.dictionaries(fields, json_values, max_size=3))
def test_whatever_an_event_holds_the_answer_is_valid(kind, members):
    talk = conversation()
    for event in receive(talk, {**members, "type": kind}):
        valid(event)

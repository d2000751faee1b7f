"""A realtime session as messages of a WebSocket."""

import json

import pytest

from engine.mock.conversations.realtime import open_conversation
from engine.relay.websocket.endpoint import Message

TEXT = {"type": "response.create", "response": {"output_modalities": ["text"]}}


def events(utterances):
    return [json.loads(utterance.message.data) for utterance in utterances]


def send(session, event):
    return list(session.receive(Message(True, json.dumps(event).encode())))


@pytest.mark.parametrize(
    ("offered", "accepted"), [(["a", "realtime"], "realtime"), (["a"], ""), ([], "")]
)
def test_its_own_subprotocol_alone_is_accepted(offered, accepted):
    assert open_conversation("m", offered).protocol == accepted


def test_it_begins_with_the_session_of_the_model():
    (event,) = events(open_conversation("gpt-realtime", []).opening())
    assert (event["type"], event["session"]["model"]) == ("session.created", "gpt-realtime")


def test_the_deltas_of_a_response_are_pieces_and_nothing_else_is():
    session = open_conversation("m", [])
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a b"}]}
    send(session, {"type": "conversation.item.create", "item": item})
    utterances = send(session, TEXT)
    kinds = [event["type"] for event in events(utterances)]
    assert [kind.endswith(".delta") for kind in kinds] == [each.piece for each in utterances]
    assert any(each.piece for each in utterances)


def test_a_requested_fault_is_an_error_event():
    session = open_conversation("m", [])
    assert events(session.fail())[0]["type"] == "error"

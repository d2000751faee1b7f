"""The mock's side of a session of Gemini's Live API."""

from __future__ import annotations

import json

import pytest

from engine.mock.conversations import open_conversation
from engine.relay.websocket.endpoint import Message


def say(session, document):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [json.loads(each.message.data) for each in session.receive(Message(True, data))]


@pytest.fixture
def session():
    made = open_conversation("gemini_live", "", [])
    assert say(made, {"setup": {"model": "models/m"}}) == [{"setupComplete": {"sessionId": "mock"}}]
    return made


@pytest.mark.parametrize(
    "message",
    [
        {"clientContent": {"turns": [{"parts": []}, {"parts": [{"text": "one two three"}]}]}},
        {"client_content": {"turns": [{"parts": [{"text": "one two"}, {"text": " three"}]}]}},
        {"realtimeInput": {"text": "one two three"}},
    ],
)
def test_it_says_the_last_turn_back_and_counts(session, message):
    *pieces, last = say(session, message)
    parts = [piece["serverContent"]["modelTurn"]["parts"][0]["text"] for piece in pieces]
    assert "".join(parts) == "one two three"
    assert len(parts) == 2
    assert last["serverContent"]["turnComplete"]
    assert last["usageMetadata"]["totalTokenCount"] == 6


@pytest.mark.parametrize("message", [b"{", b"[]", b"\xff", {"realtimeInput": {"audio": {}}}])
def test_what_says_nothing_gets_no_answer(session, message):
    assert say(session, message) == []
    assert (list(session.opening()), list(session.fail())) == ([], [])

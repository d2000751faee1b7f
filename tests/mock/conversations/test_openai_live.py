"""The mock's side of a session of OpenAI's Live API."""

from __future__ import annotations

import json

from engine.mock.conversations import open_conversation
from engine.relay.websocket.endpoint import Message


def kinds(session, *events):
    answers = []
    for event in events:
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        answers += [json.loads(each.message.data) for each in session.receive(Message(True, data))]
    return [(answer["type"], answer.get("usage")) for answer in answers]


def test_a_session_from_its_start_to_its_end():
    session = open_conversation("openai_live", "", ["realtime", "x"])
    assert session.protocol == "realtime"
    start = {"type": "session.start", "session": {"model": "gpt-live-1"}}
    audio = {"type": "session.input_audio.append", "audio": ""}
    assert kinds(session, start, audio, audio, {"type": "session.close"}) == [
        ("session.started", None),
        ("session.usage.updated", {"seconds": 2}),
        ("session.usage.updated", {"seconds": 4}),
        ("session.closed", {"seconds": 4}),
    ]


def test_the_first_message_starts_it():
    session = open_conversation("openai_live", "", [])
    assert list(session.opening()) == []
    assert kinds(session, b"{", {"type": "session.close"}) == [("error", None)] * 2
    assert len(list(session.fail())) == 1

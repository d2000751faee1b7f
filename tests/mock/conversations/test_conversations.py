"""The conversation of a dialect is found by its name."""

from engine.mock.conversations import open_conversation
from engine.mock.conversations.realtime import Realtime
from engine.relay.websocket.endpoint import Message


def test_a_conversation_is_found_by_its_name():
    conversation = open_conversation("realtime", "gpt-realtime", ["realtime"])
    assert isinstance(conversation, Realtime)
    assert conversation.protocol == "realtime"


def test_a_dialect_without_one_is_echoed():
    message = Message(True, b"Hello")
    (utterance,) = open_conversation("", "m", []).receive(message)
    assert (utterance.message, utterance.piece) == (message, False)

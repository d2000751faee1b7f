"""The echo repeats what it gets."""

from __future__ import annotations

from engine.mock.conversations.echo import open_conversation
from engine.relay.websocket.endpoint import Message


def test_every_message_comes_back_as_it_was():
    echo = open_conversation("any-model", ())
    for message in (Message(True, b"text"), Message(False, b"\x00\xff"), Message(True, b"")):
        assert [utterance.message for utterance in echo.receive(message)] == [message]


def test_it_sends_no_message_by_itself():
    echo = open_conversation("any-model", ())
    assert (list(echo.opening()), list(echo.fail())) == ([], [])


def test_the_first_subprotocol_offered_is_accepted():
    assert open_conversation("", ("b", "a")).protocol == "b"
    assert open_conversation("", ()).protocol == ""

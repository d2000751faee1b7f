"""Messages of which the frames are joined and edited."""

import pytest
from websockets.frames import BINARY, CONT, TEXT, Frame

from engine.relay.websocket.message_edits import EditedFrames


def test_whole_messages_and_fragments_are_edited():
    edited = EditedFrames(bytes.upper)
    frames = [
        Frame(TEXT, b"one"),
        Frame(BINARY, b"t", fin=False),
        Frame(CONT, b"w", fin=False),
        Frame(CONT, b"o"),
        Frame(TEXT, b"", fin=False),
        Frame(CONT, b""),
    ]
    assert [edited.feed(each) for each in frames] == [
        (TEXT, b"ONE"),
        None,
        None,
        (BINARY, b"TWO"),
        None,
        (TEXT, b""),
    ]


def test_a_message_that_is_refused_leaves_nothing_for_the_next():
    def refuse(message):
        if b"x" in message:
            raise ValueError("no")
        return message

    edited = EditedFrames(refuse)
    assert edited.feed(Frame(TEXT, b"x", fin=False)) is None
    with pytest.raises(ValueError, match="no"):
        edited.feed(Frame(CONT, b"y"))
    assert edited.feed(Frame(TEXT, b"z")) == (TEXT, b"z")

"""Turns and instructions -> contents."""

from __future__ import annotations

import pytest

from engine.translations.neutral.content import (
    Text,
)
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import (
    Message,
)
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    HI,
    IMAGE,
    OLD,
    PRO_3,
    contents,
    losing,
    turn,
    write,
)


def test_instructions_stand_above_the_conversation_each_in_a_part() -> None:
    body = write(
        PRO_3,
        [turn("system", Text(text="c")), HI, turn("system", Text(text="d"))],
        system=[Text(text="a"), Text(text=""), Text(text="b")],
    )
    assert body["systemInstruction"] == {
        "parts": [{"text": "a"}, {"text": "b"}, {"text": "c"}, {"text": "d"}]
    }
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]


def test_instructions_are_text() -> None:
    _, losses = losing(PRO_3, [turn("system", IMAGE), HI])
    assert losses == ["image"]


def test_neighbours_of_one_role_are_one_turn_and_empty_texts_none() -> None:
    result = contents(
        turn("user", Text(text="a")),
        turn("user", Text(text=""), Text(text="b")),
        turn("assistant", Text(text="")),
        turn("user", Text(text="c")),
    )
    assert result == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "user", "parts": [{"text": "c"}]},
    ]


@each(("model", "losses"), [(OLD, []), (FLASH, ["assistant"]), (PRO_3, ["assistant"])])
def test_only_older_models_continue_an_assistants_turn(model: str, losses: list[str]) -> None:
    assert losing(model, [HI, turn("assistant", Text(text="I"))])[1] == losses


def test_names_of_speakers_are_a_hint() -> None:
    named = Message(role="user", blocks=[Text(text="a")], name="Ann", place="messages[0]")
    assert losing(PRO_3, [named])[1] == ["(messages[0].name)"]


@each("messages", [[], [turn("system", Text(text="Be brief."))], [turn("user", Text(text=""))]])
def test_a_conversation_that_says_nothing_is_refused(messages: list[Message]) -> None:
    with pytest.raises(WrongType) as excinfo:
        write(PRO_3, messages)
    assert excinfo.value.place == "messages"

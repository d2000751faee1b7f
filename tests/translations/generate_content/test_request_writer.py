"""The request line."""

from __future__ import annotations

import pytest

from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.content import (
    Text,
)
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import (
    ChatRequest,
    Message,
)
from engine.values.wildcard import Patterns
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


@each(
    ("model", "stream", "path", "query"),
    [
        ("gemini-3-pro", False, "/models/gemini-3-pro:generateContent", ""),
        ("gemini-3-pro", True, "/models/gemini-3-pro:streamGenerateContent", "alt=sse"),
        ("models/gemini-3-pro", False, "/models/gemini-3-pro:generateContent", ""),
        ("tunedModels/my-1", False, "/tunedModels/my-1:generateContent", ""),
        ("a/../b?c", False, "/models/a%2F..%2Fb%3Fc:generateContent", ""),
    ],
)
def test_the_url_names_the_model(model: str, stream: bool, path: str, query: str) -> None:
    request = ChatRequest(language="other", model="alias", messages=[HI], stream=stream)
    target_request = write_request(request, model, Losses(Patterns(())))
    assert (target_request.path, target_request.query) == (path, query)


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

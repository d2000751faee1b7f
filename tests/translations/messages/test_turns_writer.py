"""The order of turns in which the vendor accepts a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from engine.translations.anthropic_models import model_called
from engine.translations.messages.content_writer import ContentWriter
from engine.translations.messages.turns_writer import write_turns
from engine.translations.neutral.content import Inline, Media, Text, ToolCall, ToolResult
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import ChatRequest, Message, Role
from engine.values.wildcard import Patterns
from tests.support.each import each

OLD, NEW = "claude-opus-4-1", "claude-opus-5"


def turn(role: Role, *texts: str, place: str = "") -> Message:
    return Message(role=role, blocks=[Text(text=text) for text in texts], place=place)


def write(
    *messages: Message, model: str = OLD, language: str = "other", system: str = ""
) -> tuple[Any, list[str]]:
    request = ChatRequest(
        language=language,
        model="m",
        messages=list(messages),
        system=[Text(text=system)] if system else [],
    )
    losses = Losses(Patterns(()))
    same_language = language == "messages"
    writer = ContentWriter(ToolNames(), losses, same_language=same_language)
    body = write_turns(request, writer, model_called(model), losses, same_language=same_language)
    if losses.remainder_error is not None:
        raise losses.remainder_error
    return body, [loss.place for loss in losses.losses]


def texts_of(body: Any) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in body["messages"]]


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def test_neighbours_of_one_role_are_one_turn_with_all_blocks() -> None:
    body, _ = write(turn("user", "a"), turn("user", "b", "c"), turn("assistant", "d"))
    assert texts_of(body) == [("user", [text("a"), text("b"), text("c")]), ("assistant", "d")]


def test_results_of_tools_come_first_in_their_turn_and_in_their_order() -> None:
    calls = [ToolCall(id="1", name="f"), ToolCall(id="2", name="f")]
    results = [ToolResult(id="2"), ToolResult(id="1")]
    body, _ = write(
        turn("user", "a"),
        Message(role="assistant", blocks=[*calls]),
        turn("user", "meanwhile"),
        *(Message(role="user", blocks=[result]) for result in results),
    )
    kinds = [block.get("tool_use_id", "text") for block in body["messages"][2]["content"]]
    assert kinds == ["2", "1", "text"]


def test_instructions_between_turns_go_above_the_conversation() -> None:
    body, losses = write(
        turn("user", "a"), turn("system", "In French."), turn("user", "b"), system="Be brief."
    )
    assert body["system"] == [text("Be brief."), text("In French.")]
    assert texts_of(body) == [("user", [text("a"), text("b")])]
    assert losses == []


def test_newer_models_get_instructions_where_they_stand() -> None:
    body, _ = write(
        turn("user", "a"),
        turn("system", "In French."),
        turn("assistant", "b"),
        turn("user", "c"),
        turn("system", "In Thai."),
        model=NEW,
    )
    assert [role for role, _ in texts_of(body)] == [
        "user",
        "system",
        "assistant",
        "user",
        "system",
    ]
    assert "system" not in body


def test_also_newer_models_get_instructions_only_between_user_and_assistant() -> None:
    body, _ = write(
        turn("user", "a"),
        turn("system", "1"),
        turn("user", "b"),
        turn("assistant", "c"),
        turn("system", "2"),
        turn("user", "d"),
        model=NEW,
    )
    assert body["system"] == [text("1"), text("2")]
    assert [role for role, _ in texts_of(body)] == ["user", "assistant", "user"]


def test_instructions_are_text_only() -> None:
    image = Media(kind="image", source=Inline("image/png", "iVBO"), place="messages[0].content[0]")
    message = Message(role="system", blocks=[image, Text(text="Look.")])
    body, losses = write(message, turn("user", "a"))
    assert (body["system"], losses) == ("Look.", ["messages[0].content[0]"])


def test_texts_and_turns_that_say_nothing_are_left_out() -> None:
    body, losses = write(
        turn("user", "a", "", " \n"), turn("assistant", ""), turn("user", "b"), system=" "
    )
    assert body == {
        "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    }
    assert losses == []


def test_an_assistant_at_the_beginning_is_a_loss() -> None:
    body, losses = write(turn("assistant", "Welcome!", place="messages[0]"), turn("user", "a"))
    assert (texts_of(body), losses) == ([("user", "a")], ["messages[0]"])


def test_an_assistant_at_the_end_is_continued_by_older_models() -> None:
    body, losses = write(turn("user", "a"), turn("assistant", "x", "b \n"))
    assert texts_of(body) == [("user", "a"), ("assistant", [text("x"), text("b")])]
    assert losses == []


def test_an_assistant_at_the_end_is_a_loss_for_newer_models() -> None:
    message = turn("assistant", "b", place="messages[1]")
    body, losses = write(turn("user", "a"), message, model=NEW)
    assert (texts_of(body), losses) == ([("user", "a")], ["messages[1]"])


def test_a_name_of_a_speaker_is_a_loss() -> None:
    message = Message(role="user", blocks=[Text(text="a")], name="anna", place="messages[0]")
    assert write(message)[1] == ["messages[0].name"]


def test_turns_of_this_language_stay_as_they_are() -> None:
    messages = [turn("assistant", ""), turn("user", "a"), turn("user", " "), turn("system", "s")]
    body, losses = write(*messages, language="messages")
    assert texts_of(body) == [("assistant", ""), ("user", "a"), ("user", " "), ("system", "s")]
    assert losses == []


def test_the_request_is_not_changed_by_writing_it() -> None:
    messages = [turn("user", "a"), turn("user", "b"), turn("assistant", "c "), turn("system", "s")]
    assert write(*messages) == write(*messages)
    assert [len(message.blocks) for message in messages] == [1, 1, 1, 1]


@each("turns", [[], [turn("system", "Be brief.")], [turn("user", " ")]])
def test_a_conversation_without_a_users_turn_is_refused(turns: list[Message]) -> None:
    with pytest.raises(WrongType, match="a user's turn with content"):
        write(*turns, system="Be kind.")

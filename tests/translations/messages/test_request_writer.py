"""The neutral form of other languages' requests -> messages requests."""

from __future__ import annotations

from typing import Any

import pytest

from engine.translations.messages.content_writer import ContentWriter
from engine.translations.messages.request_writer import limit_marks, write_turns
from engine.translations.neutral.calls import ToolNames
from engine.translations.neutral.content import (
    Inline,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message, Role, Thinking
from engine.translations.vendors.anthropic_models import model_called
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.messages.requests import CALLED, HI, LOOK, NEW, OLD, write


def test_the_model_is_called_as_the_target_knows_it_and_gets_a_limit() -> None:
    body, _ = write("claude-opus-4-1")
    assert body == {
        "model": "claude-opus-4-1",
        "max_tokens": 32_000,
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_a_limit_of_the_caller_counts() -> None:
    assert write(max_tokens=7)[0]["max_tokens"] == 7


def test_thoughts_on_a_budget_need_those_before_the_last_calls() -> None:
    body, losses = write(OLD, messages=CALLED, tools=[LOOK], thinking=Thinking(effort="low"))
    assert "thinking" not in body
    assert losses == ["(thinking)"]


@each("model", [OLD, NEW])
def test_thoughts_go_on_where_those_before_were_sent_back(model: str) -> None:
    thought = Reasoning(text="hm", signature=Signature("messages", "s"))
    messages = [HI, Message(role="assistant", blocks=[thought, *CALLED[1].blocks]), CALLED[2]]
    body, _ = write(model, messages=messages, tools=[LOOK], thinking=Thinking(effort="low"))
    assert body["thinking"]["type"] in ("enabled", "adaptive")


@each(("model", "messages"), [(NEW, CALLED), (OLD, [*CALLED, HI, CALLED[1], HI]), (OLD, [HI])])
def test_only_a_budget_in_a_round_of_calls_needs_earlier_thoughts(
    model: str, messages: list[Message]
) -> None:
    body, losses = write(model, messages=messages, tools=[LOOK], thinking=Thinking(effort="low"))
    assert "thinking" in body
    assert losses == []


def test_arguments_that_are_no_object_are_in_one() -> None:
    call = ToolCall(id="1", name="f", arguments="[1")
    body, _ = write(messages=[HI, Message(role="assistant", blocks=[call]), HI])
    assert body["messages"][1]["content"][0]["input"] == {"arguments": "[1"}


def test_a_call_after_unsigned_thoughts_loses_only_the_thoughts() -> None:
    thought = Reasoning(text="hm", place="messages[1].content[0]")
    call = ToolCall(id="1", name="f", arguments='{"a": 1.0}')
    body, losses = write(messages=[HI, Message(role="assistant", blocks=[thought, call]), HI])
    assert body["messages"][1]["content"] == [
        {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1.0}}
    ]
    assert losses == ["(messages[1].content[0])"]


MARK = {"cache_control": {"type": "ephemeral"}}


def test_only_the_last_four_marks_are_left() -> None:
    body = {
        "tools": [{"name": "a", **MARK}, {"name": "b"}],
        "system": [{"type": "text", **MARK}],
        "messages": [
            {"content": [{"n": 0, **MARK}]},
            {"content": "text"},
            {"content": [{"n": 1, **MARK}, {"n": 2, **MARK}]},
        ],
    }
    limit_marks(body)
    assert body["tools"] == [{"name": "a"}, {"name": "b"}]
    assert body["system"] == [{"type": "text", **MARK}]
    assert body["messages"][2]["content"] == [{"n": 1, **MARK}, {"n": 2, **MARK}]  # type: ignore[index]


OLDER, NEWER = "claude-opus-4-1", "claude-opus-5"


def turn(role: Role, *texts: str, place: str = "") -> Message:
    return Message(role=role, blocks=[Text(text=text) for text in texts], place=place)


def write_turns_of(
    *messages: Message, model: str = OLDER, system: str = ""
) -> tuple[Any, list[str]]:
    request = ChatRequest(
        language="other",
        model="m",
        messages=list(messages),
        system=[Text(text=system)] if system else [],
    )
    losses = Losses(Patterns(()))
    writer = ContentWriter(ToolNames(), losses)
    body = write_turns(request, writer, model_called(model), losses)
    if losses.remainder_error is not None:
        raise losses.remainder_error
    return body, [loss.place for loss in losses.losses]


def texts_of(body: Any) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in body["messages"]]


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def test_neighbours_of_one_role_are_one_turn_with_all_blocks() -> None:
    body, _ = write_turns_of(turn("user", "a"), turn("user", "b", "c"), turn("assistant", "d"))
    assert texts_of(body) == [("user", [text("a"), text("b"), text("c")]), ("assistant", "d")]


def test_results_of_tools_come_first_in_their_turn_and_in_their_order() -> None:
    calls = [ToolCall(id="1", name="f"), ToolCall(id="2", name="f")]
    results = [ToolResult(id="2"), ToolResult(id="1")]
    body, _ = write_turns_of(
        turn("user", "a"),
        Message(role="assistant", blocks=[*calls]),
        turn("user", "meanwhile"),
        *(Message(role="user", blocks=[result]) for result in results),
    )
    kinds = [block.get("tool_use_id", "text") for block in body["messages"][2]["content"]]
    assert kinds == ["2", "1", "text"]


def test_instructions_between_turns_go_above_the_conversation() -> None:
    body, losses = write_turns_of(
        turn("user", "a"), turn("system", "In French."), turn("user", "b"), system="Be brief."
    )
    assert body["system"] == [text("Be brief."), text("In French.")]
    assert texts_of(body) == [("user", [text("a"), text("b")])]
    assert losses == []


def test_newer_models_get_instructions_where_they_stand() -> None:
    body, _ = write_turns_of(
        turn("user", "a"),
        turn("system", "In French."),
        turn("assistant", "b"),
        turn("user", "c"),
        turn("system", "In Thai."),
        model=NEWER,
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
    body, _ = write_turns_of(
        turn("user", "a"),
        turn("system", "1"),
        turn("user", "b"),
        turn("assistant", "c"),
        turn("system", "2"),
        turn("user", "d"),
        model=NEWER,
    )
    assert body["system"] == [text("1"), text("2")]
    assert [role for role, _ in texts_of(body)] == ["user", "assistant", "user"]


def test_instructions_are_text_only() -> None:
    image = Media(kind="image", source=Inline("image/png", "iVBO"), place="messages[0].content[0]")
    message = Message(role="system", blocks=[image, Text(text="Look.")])
    body, losses = write_turns_of(message, turn("user", "a"))
    assert (body["system"], losses) == ("Look.", ["messages[0].content[0]"])


def test_texts_and_turns_that_say_nothing_are_left_out() -> None:
    body, losses = write_turns_of(
        turn("user", "a", "", " \n"), turn("assistant", ""), turn("user", "b"), system=" "
    )
    assert body == {
        "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    }
    assert losses == []


def test_an_assistant_may_begin() -> None:
    body, losses = write_turns_of(turn("assistant", "Welcome!"), turn("user", "a"))
    assert (texts_of(body), losses) == ([("assistant", "Welcome!"), ("user", "a")], [])


def test_an_assistant_at_the_end_is_continued_by_older_models() -> None:
    body, losses = write_turns_of(turn("user", "a"), turn("assistant", "x", "b \n"))
    assert texts_of(body) == [("user", "a"), ("assistant", [text("x"), text("b")])]
    assert losses == []


def test_an_assistant_at_the_end_is_a_loss_for_newer_models() -> None:
    message = turn("assistant", "b", place="messages[1]")
    body, losses = write_turns_of(turn("user", "a"), message, model=NEWER)
    assert (texts_of(body), losses) == ([("user", "a")], ["messages[1]"])


def test_the_request_is_not_changed_by_writing_it() -> None:
    messages = [turn("user", "a"), turn("user", "b"), turn("assistant", "c "), turn("system", "s")]
    assert write_turns_of(*messages) == write_turns_of(*messages)
    assert [len(message.blocks) for message in messages] == [1, 1, 1, 1]


@each("turns", [[], [turn("system", "Be brief.")], [turn("user", " ")]])
def test_a_conversation_without_a_users_turn_is_refused(turns: list[Message]) -> None:
    with pytest.raises(WrongType, match="a user's turn with content"):
        write_turns_of(*turns, system="Be kind.")

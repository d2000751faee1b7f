"""The order of turns."""

from __future__ import annotations

from engine.translations.neutral.content import Text, ToolCall, ToolResult
from engine.translations.neutral.request import Message
from tests.translations.converse.writing import CLAUDE_4_1, HI, NOVA, assistant, user, written


def roles(body: dict[str, list[dict[str, str]]]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def system(text: str) -> Message:
    return Message(role="system", blocks=[Text(text=text)], place="s")


def test_instructions_stand_above_the_conversation() -> None:
    request = written(NOVA, HI, system("b"), HI, system=[Text(text="a")])
    assert request.body["system"] == [{"text": "a"}, {"text": "b"}]
    assert roles(request.body) == ["user"]
    assert len(request.content) == 2


def test_neighbours_of_one_role_are_one_turn() -> None:
    answer = assistant(Text(text="x"))
    assert roles(written(NOVA, HI, HI, answer, answer, HI).body) == ["user", "assistant", "user"]


def test_results_come_first_in_their_turn() -> None:
    call = assistant(ToolCall(id="t", name="f"))
    result = ToolResult(id="t", content=[Text(text="x")])
    content = written(NOVA, HI, call, user(Text(text="a"), result)).body["messages"][2]["content"]
    assert [next(iter(block)) for block in content] == ["toolResult", "text"]


def test_only_some_models_continue_their_own_turn() -> None:
    turns = (HI, assistant(Text(text="I think ")))
    request = written(CLAUDE_4_1, *turns)
    assert request.body["messages"][1]["content"] == [{"text": "I think"}]
    request = written(NOVA, *turns)
    assert request.lost == {"messages[1]": "the model does not continue an assistant's turn"}
    assert roles(request.body) == ["user"]


def test_a_conversation_begins_with_the_users_turn() -> None:
    request = written(NOVA, assistant(Text(text="x")), HI)
    assert request.lost == {"messages[1]": "a conversation begins with the user's turn"}
    assert roles(request.body) == ["user"]


def test_instructions_behind_a_models_turn_are_lost() -> None:
    request = written(CLAUDE_4_1, HI, assistant(Text(text="x")), system("y"))
    assert request.lost == {"s": "instructions cannot follow an assistant's turn"}


def test_a_request_of_which_nothing_remains_is_refused() -> None:
    blank = user(Text(text=" "))
    assert written(NOVA, blank).remainder_error is not None
    assert written(NOVA, HI, assistant(Text(text="x")), blank).remainder_error is not None
    assert written(NOVA, HI).remainder_error is None


def test_a_speaker_has_no_name() -> None:
    named = Message(role="user", blocks=[Text(text="a")], name="Ann", place="m")
    assert written(NOVA, named).hints == {"m.name"}

"""The order of turns that vendors want."""

from __future__ import annotations

from engine.translations.neutral.content import (
    Block,
    Inline,
    Media,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message, Role
from engine.translations.neutral.turns import (
    from_user_to_user,
    results_before_others,
    results_first,
    texts_only,
    with_results,
)
from engine.values.wildcard import Patterns
from tests.support.each import each


def turn(text: str) -> Message:
    """`a:xy` calls x and y, `u:x-` has the result of x and a text, `s:-` is an instruction."""
    letter, _, content = text.partition(":")
    role: Role = {"a": "assistant", "u": "user", "s": "system"}[letter]  # type: ignore[assignment]
    blocks: list[Block] = []
    for each_letter in content:
        if each_letter == "-":
            blocks.append(Text(text="-"))
        elif role == "assistant":
            blocks.append(ToolCall(id=each_letter, name="f"))
        else:
            blocks.append(ToolResult(id=each_letter))
    return Message(role=role, blocks=blocks, place=text)


def text_of(message: Message) -> str:
    letters = [getattr(block, "id", "-") for block in message.blocks]
    return f"{message.role[0]}:{''.join(letters)}"


@each(
    ("before", "after"),
    [
        ("", ""),
        ("u:- a:- u:-", "u:- a:- u:-"),
        ("a:x u:x", "a:x u:x"),
        ("a:x u:-x", "a:x u:x u:-"),
        ("a:xy u:x- u:y", "a:xy u:x u:y u:-"),
        ("a:xy s:- u:yx u:-", "a:xy u:yx s:- u:-"),
        ("a:x u:- a:y u:y", "a:x u:- a:y u:y"),  # no result of x
        ("u:x u:-", "u:x u:-"),  # a result of nothing
        ("a:x u:x a:x u:-x", "a:x u:x a:x u:x u:-"),  # ids come again in the next round
        ("a:x u:-", "a:x u:-"),
    ],
)
def test_order(before: str, after: str) -> None:
    assert [text_of(each) for each in results_first([turn(o) for o in before.split()])] == [
        *after.split()
    ]


@each(
    ("before", "after"),
    [
        ("", ""),
        ("u:- a:x", "u:- a:x"),  # nothing follows
        ("a:x u:x a:- u:-", "a:x u:x a:- u:-"),
        ("a:x u:-", "a:x u:x u:-"),
        ("a:x a:y u:- a:-", "a:x a:y u:xy u:- a:-"),
        ("a:xy u:y-", "a:xy u:x u:y-"),
        ("a:xy s:- u:x", "a:xy u:y s:- u:x"),
        ("a:x a:y u:y u:-", "a:x a:y u:x u:y u:-"),
    ],
)
def test_each_call_has_a_result_unless_the_conversation_ends_with_it(
    before: str, after: str
) -> None:
    messages = with_results([turn(each) for each in before.split()])
    assert [text_of(each) for each in messages] == after.split()


def test_a_result_without_a_call_is_a_text() -> None:
    picture = Media(kind="image", source=Inline("image/png", "iVBO"))
    result = ToolResult(id="y", content=[Text(text="r"), picture])
    messages = [turn("a:x"), Message(role="user", blocks=[ToolResult(id="x"), result])]
    [_, user] = with_results(messages)
    note, *content = user.blocks[1:]
    assert isinstance(note, Text)
    assert "not in this conversation" in note.text
    assert (user.blocks[0], content) == (ToolResult(id="x"), result.content)


def test_parts_of_a_turn_keep_its_marks() -> None:
    message = Message(role="user", blocks=[Text(text="-"), ToolResult(id="x")], place="p")
    parts = results_first([turn("a:x"), message])[1:]
    assert [(each.role, each.place) for each in parts] == [("user", "p"), ("user", "p")]


@each(
    ("turns", "prefill", "user_first", "expected_turns", "expected_losses", "error_place"),
    [
        ("u:- a:x u:x", False, True, "u a u", [], None),
        ("a:x u:-", True, False, "a u", [], None),
        ("a:x u:-", True, True, "u a u", [], None),
        ("a:- a:x u:-", False, True, "u a a u", [], None),
        ("u:- a:-", True, True, "u a+", [], None),
        ("u:- a:-", False, True, "u", ["a:-"], None),
        ("u:- a:x u:", True, True, "u a", [], "u:"),
        ("a:x u:", True, True, "a", [], "messages"),
        ("u: a:x", True, False, "a+", [], "messages"),
        ("", True, True, "", [], "messages"),
    ],
)
def test_turns_from_a_users_to_a_users(
    turns: str,
    prefill: bool,
    user_first: bool,
    expected_turns: str,
    expected_losses: list[str],
    error_place: str | None,
) -> None:
    """`+` marks the turn that the model continues."""
    losses = Losses(Patterns(()))

    def write(message: Message, is_continued: bool) -> str:
        return message.role[0] + "+" * is_continued if message.blocks else ""

    messages = [turn(each_turn) for each_turn in turns.split()]
    request = ChatRequest(language="", model="", messages=messages)
    result = from_user_to_user(
        request, messages, write, losses, prefill=prefill, user_first=user_first
    )
    error = losses.remainder_error
    assert " ".join(each_turn["content"] for each_turn in result) == expected_turns
    assert [loss.place for loss in losses.losses] == expected_losses
    assert (error and error.place) == error_place


def test_results_come_before_what_else_a_turn_has() -> None:
    assert [type(block) for block in results_before_others(turn("u:-x-"))] == [
        ToolResult,
        Text,
        Text,
    ]


def test_instructions_are_texts() -> None:
    losses = Losses(Patterns(()))
    assert texts_only([Text(text="a"), Refusal(text="b", place="p")], losses) == [Text(text="a")]
    assert [loss.place for loss in losses.losses] == ["p"]

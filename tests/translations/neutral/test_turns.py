"""The order of turns around tool calls."""

from __future__ import annotations

from engine.translations.neutral.content import Block, Text, ToolCall, ToolResult
from engine.translations.neutral.request import Message, Role
from engine.translations.neutral.turns import results_first
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


def test_parts_of_a_turn_keep_its_marks() -> None:
    message = Message(role="user", blocks=[Text(text="-"), ToolResult(id="x")], place="p", name="n")
    parts = results_first([turn("a:x"), message])[1:]
    assert [(each.place, each.name) for each in parts] == [("p", "n"), ("p", "n")]

"""Blocks -> the messages of chat completions requests, which the SDK accepts."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.chat_completions.request_writer import write_request
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.openai_sdk import check_chat_request

Json = dict[str, Any]

PNG = Media(kind="image", source=Inline("image/png", "iVBO"), place="p")
PNG_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
MARKER = {"type": "text", "text": "(The tool returned this beside its text.)"}


def write(*messages: Message, system: list[Text] | None = None) -> tuple[list[Json], list[str]]:
    """The messages, and the places of the losses: those of hints in brackets."""
    request = ChatRequest(
        language="other", model="alias", messages=[*messages], system=system or []
    )
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, "gpt-4o", losses).body)
    check_chat_request(body)
    return body["messages"], [f"({o.place})" if o.hint else o.place for o in losses.losses]


def user(*blocks: Block) -> Message:
    return Message(role="user", blocks=[*blocks])


def assistant(*blocks: Block) -> Message:
    return Message(role="assistant", blocks=[*blocks])


def call(name: str) -> ToolCall:
    return ToolCall(id=f"call_{name}", name=name)


def result(name: str, *content: Block) -> ToolResult:
    return ToolResult(id=f"call_{name}", content=[*content])


@each(
    ("block", "part"),
    [
        (Text(text="Hi"), "Hi"),
        (Text(text=""), ""),
        (PNG, [PNG_PART]),
        (
            Media(kind="image", source=Link("https://a/b"), detail="low"),
            [{"type": "image_url", "image_url": {"url": "https://a/b", "detail": "low"}}],
        ),
        (
            Media(kind="audio", source=Inline("audio/mpeg", "UklG")),
            [{"type": "input_audio", "input_audio": {"data": "UklG", "format": "mp3"}}],
        ),
        (
            Media(kind="document", source=Inline("application/pdf", "JVBE"), name="a.pdf"),
            [
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,JVBE",
                    },
                }
            ],
        ),
        (Media(kind="document", source=PlainText("words")), "words"),
    ],
)
def test_parts(block: Block, part: Any) -> None:
    assert write(user(block)) == ([{"role": "user", "content": part}], [])


@each(
    "block",
    [
        Media(kind="video", source=Inline("video/mp4", "AA"), place="p"),
        Media(kind="audio", source=Inline("audio/flac", "AA"), place="p"),
        Media(kind="document", source=Link("https://a/b.pdf"), place="p"),
        Media(kind="image", source=UploadedFile(), place="p"),
        Foreign(kind="container_upload", place="p"),
    ],
)
def test_what_cannot_be_said_is_a_loss(block: Block) -> None:
    assert write(user(Text(text="Hi"), block)) == ([{"role": "user", "content": "Hi"}], ["p"])


@each("role", ["assistant", "system"])
def test_only_users_show_images(role: Any) -> None:
    message = Message(role=role, blocks=[Text(text="Hi"), PNG])
    assert write(message) == ([{"role": role, "content": "Hi"}], ["p"])


def test_instructions_come_first_and_keep_their_parts() -> None:
    messages, _ = write(user(Text(text="Hi")), system=[Text(text="A"), Text(text="B")])
    parts = [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert messages[0] == {"role": "system", "content": parts}


def test_an_assistants_turn_is_one_message() -> None:
    messages, losses = write(
        user(Text(text="Hi")),
        assistant(Text(text="I"), call("a")),
        assistant(Refusal(text="No"), call("b")),
        user(result("a"), result("b")),
    )
    calls = [
        {
            "id": f"call_{name}",
            "type": "function",
            "function": {"name": name, "arguments": "{}"},
        }
        for name in "ab"
    ]
    content = [{"type": "text", "text": "I"}, {"type": "refusal", "refusal": "No"}]
    assert messages[1] == {"role": "assistant", "content": content, "tool_calls": calls}
    assert losses == []


def roles(*messages: Message) -> list[str]:
    call_id, _ = write(*messages)
    return [o["role"] + ":" + str(o.get("tool_call_id", ""))[5:] for o in call_id]


@each(
    ("turns", "expected"),
    [
        ([user(Text(text="x"), result("a"), result("b"))], ["tool:a", "tool:b", "user:"]),
        (
            [user(result("a"), Text(text="x")), user(result("b"))],
            ["tool:a", "tool:b", "user:"],
        ),
        (
            [
                Message(role="system", blocks=[Text(text="x")]),
                *(user(result("b")), Message(role="system", blocks=[Text(text="y")])),
                user(result("a")),
            ],
            ["tool:b", "tool:a", "system:"],
        ),
    ],
)
def test_results_stand_directly_behind_their_calls(
    turns: list[Message], expected: list[str]
) -> None:
    call_id = roles(user(Text(text="Hi")), assistant(call("a"), call("b")), *turns)
    assert call_id == ["user:", "assistant:", *expected]


@each(
    ("content", "is_error", "expected"),
    [
        ([], False, ""),
        ([Text(text="a")], False, "a"),
        ([Text(text="a")], True, "Error: a"),
        (
            [Text(text="a"), Text(text="b")],
            True,
            [{"type": "text", "text": text} for text in ("Error: ", "a", "b")],
        ),
    ],
)
def test_results(content: list[Block], is_error: bool, expected: Any) -> None:
    block = ToolResult(id="call_a", content=content, is_error=is_error)
    messages, _ = write(assistant(call("a")), user(block))
    assert messages[1] == {"role": "tool", "tool_call_id": "call_a", "content": expected}


def test_what_only_another_vendor_has_in_a_result_is_a_loss() -> None:
    block = Foreign(kind="search_result", place="p")
    messages, losses = write(assistant(call("a")), user(result("a", block, Text(text="x"))))
    assert (messages[1]["content"], losses) == ("x", ["p"])


def test_images_of_results_follow_all_results_in_their_order() -> None:
    other = Media(kind="image", source=Link("https://a/b"))
    messages, losses = write(
        assistant(call("a"), call("b")),
        user(result("a", Text(text="1"), PNG), result("b", other), Text(text="Go on.")),
    )
    assert [each["role"] for each in messages] == ["assistant", "tool", "tool", "user"]
    image = {"type": "image_url", "image_url": {"url": "https://a/b"}}
    text = {"type": "text", "text": "Go on."}
    assert messages[3]["content"] == [MARKER, PNG_PART, MARKER, image, text]
    assert losses == []


def test_ids_are_those_that_the_vendor_accepts() -> None:
    block = ToolCall(id="x" * 60, name="f")
    messages, _ = write(assistant(block), user(ToolResult(id="x" * 60)))
    call_id = messages[0]["tool_calls"][0]["id"]
    assert len(call_id) <= 40
    assert messages[1]["tool_call_id"] == call_id


def thought(language: str, value: str) -> Reasoning:
    return Reasoning(text="hm", signature=Signature(language, value), place="t")


ENTRY = {"type": "reasoning.summary", "index": 0, "signature": "s"}


@each(
    ("block", "members", "expected_losses"),
    [
        (thought("chat_completions", "reasoning_content"), {"reasoning_content": "hm"}, []),
        (thought("chat_completions", "reasoning"), {"reasoning": "hm"}, []),
        (
            thought("chat_completions", json.dumps(ENTRY)),
            {"reasoning_details": [{**ENTRY, "summary": "hm"}]},
            [],
        ),
        (thought("messages", "s"), {}, ["(t)"]),
        (Reasoning(text="hm", place="t"), {}, ["(t)"]),
        # callers can make up signatures, but no other member of a message
        (thought("chat_completions", "tool_calls"), {}, ["(t)"]),
        (thought("chat_completions", "[1"), {}, ["(t)"]),
    ],
)
def test_thoughts_return_in_the_member_that_they_came_in(
    block: Reasoning, members: Json, expected_losses: list[str]
) -> None:
    messages, losses = write(assistant(block, Text(text="a")))
    assert messages == [{"role": "assistant", "content": "a", **members}]
    assert losses == expected_losses


def test_a_turn_of_thoughts_alone_is_no_message() -> None:
    thoughts = assistant(thought("chat_completions", "reasoning"))
    assert roles(user(Text(text="Hi")), thoughts) == ["user:"]

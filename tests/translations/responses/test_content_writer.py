"""Blocks -> the items of responses requests, which the SDK accepts."""

from __future__ import annotations

import json
from typing import Any

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
from engine.translations.responses.request_writer import write_request
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.openai_sdk import check_responses_request

Json = dict[str, Any]

PNG = Media(kind="image", source=Inline("image/png", "iVBO"), place="p")


def write(*messages: Message, system: list[Text] | None = None) -> tuple[Json, list[str]]:
    """The body, and the places of the losses: those of hints in brackets."""
    request = ChatRequest(
        language="other", model="alias", messages=[*messages], system=system or []
    )
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, "gpt-4o", losses).body)
    check_responses_request(body)
    return body, [f"({o.place})" if o.hint else o.place for o in losses.losses]


def items(*messages: Message) -> list[Json]:
    body, losses = write(*messages)
    assert losses == []
    return body["input"]  # type: ignore[no-any-return]


def user(*blocks: Block) -> Message:
    return Message(role="user", blocks=[*blocks])


def assistant(*blocks: Block) -> Message:
    return Message(role="assistant", blocks=[*blocks])


@each(
    ("block", "part"),
    [
        (Text(text="Hi"), {"type": "input_text", "text": "Hi"}),
        (
            PNG,
            {
                "type": "input_image",
                "detail": "auto",
                "image_url": "data:image/png;base64,iVBO",
            },
        ),
        (
            Media(kind="image", source=Link("https://a/b"), detail="low"),
            {"type": "input_image", "detail": "low", "image_url": "https://a/b"},
        ),
        (
            Media(kind="document", source=Inline("application/pdf", "JVBE")),
            {
                "type": "input_file",
                "filename": "document",
                "file_data": "data:application/pdf;base64,JVBE",
            },
        ),
        (
            Media(kind="document", source=Link("https://a/b"), name="b"),
            {"type": "input_file", "filename": "b", "file_url": "https://a/b"},
        ),
        (
            Media(kind="document", source=PlainText("words")),
            {"type": "input_text", "text": "words"},
        ),
    ],
)
def test_parts(block: Block, part: Json) -> None:
    assert items(user(block)) == [{"role": "user", "content": [part]}]


@each(
    "block",
    [
        Media(kind="video", source=Inline("video/mp4", "AA"), place="p"),
        Media(kind="audio", source=Inline("audio/wav", "AA"), place="p"),
        Media(kind="image", source=UploadedFile(), place="p"),
        Foreign(kind="container_upload", place="p"),
    ],
)
def test_what_cannot_be_said_is_a_loss(block: Block) -> None:
    body, losses = write(user(Text(text="Hi"), block))
    assert [len(item["content"]) for item in body["input"]] == [1]
    assert losses == ["p"]


def test_an_item_of_another_vendor_is_a_loss() -> None:
    block = Foreign(kind="server_tool_use", place="p")
    body, losses = write(assistant(Text(text="a"), block, Text(text="b")))
    assert [item["content"] for item in body["input"]] == ["ab"]
    assert losses == ["p"]


def test_an_assistant_shows_no_images() -> None:
    body, losses = write(assistant(Text(text="Hi"), PNG))
    assert body["input"] == [{"role": "assistant", "content": "Hi"}]
    assert losses == ["p"]


@each(
    ("system", "instructions", "first"),
    [
        (["A"], "A", None),
        (
            ["A", "B"],
            None,
            {
                "role": "developer",
                "content": [
                    {"type": "input_text", "text": "A"},
                    {"type": "input_text", "text": "B"},
                ],
            },
        ),
    ],
)
def test_instructions(system: list[str], instructions: str | None, first: Json | None) -> None:
    body, _ = write(user(Text(text="Hi")), system=[Text(text=each) for each in system])
    assert body.get("instructions") == instructions
    assert body["input"][:-1] == ([] if first is None else [first])


def test_instructions_in_the_middle_are_the_developers() -> None:
    middle = Message(role="system", blocks=[Text(text="x")])
    roles = [item["role"] for item in items(user(Text(text="Hi")), middle)]
    assert roles == ["user", "developer"]


def test_an_assistants_texts_and_calls_keep_their_order() -> None:
    result = items(
        assistant(
            Text(text="a"),
            Text(text="b"),
            ToolCall(id="c1", name="f", arguments='{"a":1.0}'),
            Text(text="c"),
        )
    )
    assert result == [
        {"role": "assistant", "content": "ab"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":1.0}'},
        {"role": "assistant", "content": "c"},
    ]


def test_a_refusal_is_part_of_an_answer() -> None:
    (item,) = items(assistant(Text(text="a"), Refusal(text="No")))
    assert item == {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [
            {"type": "output_text", "text": "a", "annotations": []},
            {"type": "refusal", "refusal": "No"},
        ],
    }


@each(
    ("content", "is_error", "output"),
    [
        ([], False, ""),
        ([Text(text="a"), Text(text="b")], False, "ab"),
        ([Text(text="a")], True, "Error: a"),
        (
            [Text(text="a"), PNG],
            False,
            [
                {"type": "input_text", "text": "a"},
                {
                    "type": "input_image",
                    "detail": "auto",
                    "image_url": "data:image/png;base64,iVBO",
                },
            ],
        ),
    ],
)
def test_results(content: list[Block], is_error: bool, output: Any) -> None:
    (item,) = items(user(ToolResult(id="c1", content=content, is_error=is_error)))
    assert item == {"type": "function_call_output", "call_id": "c1", "output": output}


def test_ids_of_calls_and_results_belong_together() -> None:
    call, result = items(
        assistant(ToolCall(id="call/" + "x" * 80, name="f")),
        user(ToolResult(id="call/" + "x" * 80)),
    )
    assert call["call_id"] == result["call_id"]
    assert len(call["call_id"]) <= 64


def thought(signature: Signature | None) -> Reasoning:
    return Reasoning(text="hm", signature=signature, place="t")


def test_thoughts_return_with_their_id() -> None:
    first, _ = items(assistant(thought(Signature("responses", "rs_1 gAAA")), Text(text="a")))
    assert first == {
        "type": "reasoning",
        "id": "rs_1",
        "encrypted_content": "gAAA",
        "summary": [{"type": "summary_text", "text": "hm"}],
    }


@each("signature", [None, Signature("messages", "s")])
def test_thoughts_of_other_vendors_are_left_out(signature: Signature | None) -> None:
    body, losses = write(assistant(thought(signature), Text(text="a")))
    assert [item["role"] for item in body["input"]] == ["assistant"]
    assert losses == ["(t)"]

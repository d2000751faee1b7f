"""The messages of chat completions requests -> blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.chat_completions.request_reader import read_request
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from tests.support.each import each

Json = dict[str, Any]

PART = "messages[0].content[0]"


def blocks_of(message: Json) -> list[Block]:
    body = json.dumps({"model": "m", "messages": [message]}).encode()
    request = read_request(body, RequestLine())
    return [*request.system, *(block for each in request.messages for block in each.blocks)]


def part(content: Json) -> Block:
    (block,) = blocks_of({"role": "user", "content": [content]})
    return block


@each(
    ("content", "block"),
    [
        ({"type": "text", "text": "Hi"}, Text(text="Hi", place=PART)),
        (
            {"type": "image_url", "image_url": {"url": "DATA:Image/PNG;base64,iVBO"}},
            Media(kind="image", source=Inline("image/png", "iVBO"), place=PART),
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://a/b", "detail": "low"}},
            Media(kind="image", source=Link("https://a/b"), detail="low", place=PART),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "mp3"}},
            Media(kind="audio", source=Inline("audio/mp3", "UklG"), place=PART),
        ),
        (
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"},
            },
            Media(
                kind="document",
                source=Inline("application/pdf", "JVBE"),
                name="a.pdf",
                place=PART,
            ),
        ),
        (
            {"type": "file", "file": {"file_id": "f1"}},
            Media(kind="document", source=UploadedFile(), place=PART),
        ),
        (
            {"type": "hologram", "x": 1.0},
            Foreign(kind="hologram", place=PART),
        ),
    ],
)
def test_parts(content: Json, block: object) -> None:
    assert part(content) == block


@each(
    ("content", "place"),
    [
        ({"type": "image_url"}, "image_url"),
        ({"type": "image_url", "image_url": ["https://a/b"]}, "image_url"),
        ({"type": "image_url", "image_url": {"url": ""}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,?"}}, "image_url.url"),
        ({"type": "input_audio", "input_audio": {"data": "UklG"}}, "input_audio.format"),
        ({"type": "file", "file": {}}, "file.file_id"),
        ({"type": "file", "file": {"file_data": "UEsDBA=="}}, "file.file_data"),
        ({"type": "text", "text": 1}, "text"),
    ],
)
def test_parts_of_another_form_are_refused_by_their_place(content: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        part(content)
    assert excinfo.value.place == f"{PART}.{place}"


CALL: Json = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1.0}'}}


def test_an_assistants_message_is_what_it_thought_said_and_called() -> None:
    blocks = blocks_of(
        {
            "role": "assistant",
            "tool_calls": [{**CALL, "index": 0}],
            "refusal": "No.",
            "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
            "reasoning_content": "hm",
        }
    )
    assert blocks == [
        Reasoning(
            text="hm",
            signature=Signature("chat_completions", "reasoning_content"),
            place="messages[0].reasoning_content",
        ),
        Text(text="a", place=PART),
        Refusal(text="b", place="messages[0].content[1]"),
        Refusal(text="No.", place="messages[0].refusal"),
        ToolCall(id="c1", name="f", arguments='{"a":1.0}', place="messages[0].tool_calls[0]"),
    ]


def test_thoughts_in_a_part_are_thoughts_to_other_vendors() -> None:
    """Mistral's callers send them back so."""
    pieces = [{"type": "text", "text": "h"}, {"type": "reference", "reference_ids": [1]}]
    thoughts = {"type": "thinking", "thinking": [*pieces, {"type": "text", "text": "m"}]}
    content = [thoughts, {"type": "text", "text": "a"}]
    block, text = blocks_of({"role": "assistant", "content": content})
    assert isinstance(block, Foreign)
    signature = Signature("chat_completions", "thinking")
    assert block.substitute == Reasoning(text="hm", signature=signature, place=PART)
    assert text == Text(text="a", place="messages[0].content[1]")


def test_thoughts_that_are_a_text_are_those_of_an_unknown_vendor() -> None:
    thoughts = {"type": "thinking", "thinking": "hm", "signature": "s"}
    (block,) = blocks_of({"role": "assistant", "content": [thoughts]})
    assert isinstance(block, Foreign)
    assert block.substitute == Reasoning(text="hm", place=PART)


@each("content", [{"thinking": [1]}, {}])
def test_thoughts_of_another_form_are_this_languages(content: Json) -> None:
    (block,) = blocks_of({"role": "assistant", "content": [{"type": "thinking", **content}]})
    assert isinstance(block, Foreign)
    assert block.substitute is None


@each(
    ("call", "place"),
    [
        ({**CALL, "function": {"name": "", "arguments": ""}}, "function.name"),
        ({"id": "c1", "type": "function"}, "function"),
    ],
)
def test_calls_of_another_form_are_refused_by_their_place(call: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        blocks_of({"role": "assistant", "tool_calls": [call]})
    assert excinfo.value.place == f"messages[0].tool_calls[0].{place}"


def test_a_call_of_a_tool_that_is_no_function_is_this_languages() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "grammar", "input": "x"}}
    (block,) = blocks_of({"role": "assistant", "content": None, "tool_calls": [call]})
    assert block == Foreign(kind="tool_calls.custom", place="messages[0].tool_calls[0]")


def details(*entries: Json) -> list[Block]:
    return blocks_of(
        {"role": "assistant", "content": None, "reasoning_details": entries, "reasoning": "again"}
    )


def test_thoughts_that_another_vendor_has_signed() -> None:
    (block,) = details({"type": "reasoning.text", "text": "hm", "signature": "modelway:messages:s"})
    assert isinstance(block, Reasoning)
    assert (block.text, block.signature) == ("hm", Signature("messages", "s"))


def test_thoughts_that_the_upstream_itself_has_signed() -> None:
    entry = {"type": "reasoning.summary", "signature": "s", "format": "x", "index": 0}
    (block,) = details({**entry, "summary": "hm"})
    assert isinstance(block, Reasoning)
    assert block.signature is not None
    assert (block.text, block.signature.language) == ("hm", "chat_completions")


def test_results() -> None:
    message = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}]}
    assert blocks_of(message) == [
        ToolResult(id="c1", content=[Text(text="a", place=PART)], place="messages[0]")
    ]
    assert blocks_of({"role": "tool", "content": "a"})[0].id == "call"

"""Contents -> messages."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.generate_content.content_reader import PendingCalls
from engine.translations.generate_content.part_fields import write_signature
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, Work, growth
from tests.translations.generate_content.request_reading import (
    Json,
    blocks_of,
    call,
    ids_of,
    read,
    returned,
)


@each(
    ("role", "neutral"),
    [
        ({}, "user"),
        ({"role": None}, "user"),
        ({"role": ""}, "user"),
        ({"role": "user"}, "user"),
        ({"role": "function"}, "user"),
        ({"role": "tool"}, "user"),
        ({"role": "model"}, "assistant"),
        ({"role": "assistant"}, "assistant"),
    ],
)
def test_a_role(role: Json, neutral: str) -> None:
    (message,) = read({"contents": [{**role, "parts": [{"text": "a"}]}]}).messages
    assert message.role == neutral


def test_one_turn_may_stand_for_the_list() -> None:
    (message,) = read({"contents": {"parts": [{"text": "a"}]}}).messages
    assert [block.text for block in message.blocks if isinstance(block, Text)] == ["a"]


@each(
    ("parts", "blocks"),
    [
        ([{"text": "a"}, {"text": "b"}], [Text(text="a"), Text(text="b")]),
        (
            [{"inlineData": {"mimeType": "image/png", "data": "-_8", "displayName": "a.png"}}],
            [Media(kind="image", source=Inline("image/png", "+/8="), name="a.png")],
        ),
        (
            [{"inline_data": {"mime_type": "audio/wav", "data": "AA=="}}],
            [Media(kind="audio", source=Inline("audio/wav", "AA=="))],
        ),
        (
            [{"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.test/a"}}],
            [Media(kind="document", source=Link("https://x.test/a", "application/pdf"))],
        ),
        (
            [{"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v"}}],
            [Media(kind="video", source=UploadedFile())],
        ),
        (
            [
                {
                    "inlineData": {"mimeType": "image/png", "data": ""},
                    "mediaResolution": {"level": "MEDIA_RESOLUTION_HIGH"},
                }
            ],
            [Media(kind="image", source=Inline("image/png", ""), detail="high")],
        ),
        (
            [{"text": "hm", "thought": True}, {"text": "a", "thoughtSignature": "S"}],
            [
                Reasoning(text="hm", signature=Signature("generate_content", "S")),
                Text(text="a"),
            ],
        ),
        (
            [{"text": "hm", "thought": True, "thoughtSignature": "S"}, {"text": "a"}],
            [
                Reasoning(text="hm", signature=Signature("generate_content", "thought:S")),
                Text(text="a"),
            ],
        ),
        (
            [{"text": "a"}, {"text": "", "thoughtSignature": "S"}],
            [Text(text="a"), Reasoning(signature=Signature("generate_content", "S"))],
        ),
        (
            [{"text": "a", "thoughtSignature": write_signature(Signature("messages", "x"))}],
            [Reasoning(signature=Signature("messages", "x")), Text(text="a")],
        ),
    ],
)
def test_parts_are_blocks(parts: list[Json], blocks: list[Block]) -> None:
    assert blocks_of(*parts) == blocks


@each("kind", ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"])
def test_what_only_the_vendor_has_is_named(kind: str) -> None:
    (block,) = blocks_of({kind: {}})
    assert isinstance(block, Foreign)
    assert block.kind == kind


@each(
    ("call", "arguments"),
    [
        ({"name": "f", "args": {"b": 0.70, "a": 12345678901234567890}}, None),
        ({"name": "f", "args": {}}, "{}"),
        ({"name": "f", "args": None}, ""),
        ({"name": "f"}, ""),
    ],
)
def test_arguments_keep_their_text(call: Json, arguments: str | None) -> None:
    (block,) = blocks_of({"functionCall": call})
    expected = json.dumps(call["args"]) if arguments is None else arguments
    assert isinstance(block, ToolCall)
    assert block.arguments == expected


def test_calls_of_one_function_have_ids_of_their_own_and_results_follow_their_order() -> None:
    ids = ids_of(
        ("model", [call("f"), call("g"), call("f")]),
        ("function", [returned("f", {}), returned("f", {}), returned("g", {})]),
        ("model", [call("f")]),
        ("user", [returned("f", {})]),
    )
    calls = [name for kind, name in ids if kind == "call"]
    one, two, three, four = calls
    assert len(set(calls)) == 4
    assert [name for kind, name in ids if kind == "result"] == [one, three, two, four]


def test_ids_of_the_caller_stay() -> None:
    turns = (
        ("model", [call("f", id="x"), call("f", id="y")]),
        ("user", [returned("f", {}, id="y")]),
    )
    assert ids_of(*turns) == [("call", "x"), ("call", "y"), ("result", "y")]


def test_text_beside_results_stays_in_its_place() -> None:
    blocks = blocks_of({"text": "a"}, returned("f", {}), {"text": "b"}, role="user")
    assert [type(block) for block in blocks] == [Text, ToolResult, Text]


@each(
    ("value", "text", "is_error"),
    [
        ({"result": "s"}, "s", False),
        ({"output": "s"}, "s", False),
        ({"error": "s"}, "s", True),
        ({"error": {"code": 1}}, '{"error": {"code": 1}}', True),
        ({"output": {"x": 0.70}}, '{"output": {"x": 0.7}}', False),
        ({"result": "s", "more": 1}, '{"result": "s", "more": 1}', False),
        ({"error": "s", "more": 1}, '{"error": "s", "more": 1}', False),
        ({}, "{}", False),
        (None, "{}", False),
    ],
)
def test_the_result_of_a_tool(value: Any, text: str, is_error: bool) -> None:
    (block,) = blocks_of(returned("f", value), role="user")
    assert isinstance(block, ToolResult)
    assert (block.content, block.is_error) == ([Text(text=text)], is_error)


def test_a_result_may_hold_media() -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    (block,) = blocks_of(returned("f", {"result": "s"}, parts=[inline]), role="user")
    assert isinstance(block, ToolResult)
    assert block.content[1:] == [Media(kind="image", source=Inline("image/png", "AA=="))]


CALLS = [("f", "1"), ("g", "2"), ("f", "3")]


@each(
    ("results", "ids"),
    [
        ([("f", ""), ("f", ""), ("g", "")], ["1", "3", "2"]),
        ([("g", ""), ("f", "")], ["2", "1"]),
        ([("h", ""), ("h", ""), ("h", ""), ("h", "")], ["1", "2", "3", ""]),
        ([("f", "3"), ("f", ""), ("f", "")], ["3", "1", "2"]),
        ([("g", "1"), ("f", "")], ["1", "3"]),
        ([("f", "9"), ("f", "")], ["9", "1"]),
    ],
)
def test_a_result_answers_the_call_that_it_names_or_the_oldest(
    results: list[tuple[str, str]], ids: list[str]
) -> None:
    calls = PendingCalls()
    for name, call_id in CALLS:
        calls.add(name, call_id)
    assert [calls.take(name, call_id) for name, call_id in results] == ids


def test_an_id_that_is_used_again_is_the_later_call() -> None:
    calls = PendingCalls()
    for name, call_id in [("f", "1"), ("f", "2"), ("g", "1")]:
        calls.add(name, call_id)
    assert [calls.take("f"), calls.take("g")] == ["2", "1"]


@each("call_id", ["", "call_{}"])
def test_a_result_costs_the_same_however_many_calls_are_pending(call_id: str) -> None:
    def prepare(count: int) -> Work:
        def add_and_take() -> None:
            calls = PendingCalls()
            for number in range(count):
                calls.add("f", f"call_{number}")
            for number in range(count):
                calls.take("f", call_id.format(number))

        return add_and_take

    assert growth(prepare) <= MAX_GROWTH

"""Messages requests -> the neutral form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.messages import LANGUAGE
from engine.translations.messages.request_reader import read_request
from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Thinking, Tool, ToolChoice
from tests.support.each import each

PLACE = "messages[0].content[0]"


def read(**members: Any) -> ChatRequest:
    return read_request(json.dumps({"model": "m", **members}).encode(), RequestLine())


def read_block(block: dict[str, Any], role: str = "user") -> Any:
    return read(messages=[{"role": role, "content": [block]}]).messages[0].blocks[0]


def source(kind: str, **members: str) -> dict[str, Any]:
    return {"source": {"type": kind, **members}}


@each(
    ("block", "neutral"),
    [
        ({"type": "text", "text": "Hi"}, Text(text="Hi", place=PLACE)),
        (
            {"type": "image", **source("base64", media_type="IMAGE/PNG", data="iVBO")},
            Media(kind="image", source=Inline("image/png", "iVBO"), place=PLACE),
        ),
        (
            {"type": "image", **source("file", file_id="f1")},
            Media(kind="image", source=UploadedFile(), place=PLACE),
        ),
        (
            {"type": "document", **source("url", url="https://a/b"), "title": "b"},
            Media(
                kind="document",
                source=Link("https://a/b", "application/pdf"),
                name="b",
                name_place="messages[0].content[0].title",
                place=PLACE,
            ),
        ),
        (
            {
                "type": "document",
                **source("text", media_type="text/plain", data="d"),
                "citations": {"enabled": False},
            },
            Media(kind="document", source=PlainText("d"), place=PLACE),
        ),
        (
            {"type": "thinking", "thinking": "t", "signature": "s"},
            Reasoning(text="t", signature=Signature("messages", "s"), place=PLACE),
        ),
        ({"type": "thinking", "thinking": "t"}, Reasoning(text="t", place=PLACE)),
        (
            {"type": "thinking", "thinking": "", "signature": "modelway:gemini:g"},
            Reasoning(signature=Signature("gemini", "g"), place=PLACE),
        ),
        (
            {"type": "redacted_thinking", "data": "d"},
            Reasoning(signature=Signature("messages", "redacted:d"), place=PLACE),
        ),
        (
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
            ToolCall(id="t1", name="f", place=PLACE),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True},
            ToolResult(
                id="t1",
                content=[Text(text="no", place=f"{PLACE}.content")],
                is_error=True,
                place=PLACE,
            ),
        ),
    ],
)
def test_blocks(block: dict[str, Any], neutral: object) -> None:
    assert read_block(block) == neutral


def test_a_source_with_more_members_is_one_of_this_vendor() -> None:
    block = {"type": "image", **source("url", url="u", x="1")}
    request = read(messages=[{"role": "user", "content": [block]}])
    assert isinstance(request.messages[0].blocks[0], Foreign)
    assert request.unread == []  # the block itself is what other languages lose


@each("kind", ["web_fetch_tool_result", "container_upload", "hologram"])
def test_a_block_of_this_vendor_is_kept_whole(kind: str) -> None:
    block = read_block({"type": kind, "x": [1.0]})
    raw = b'{"type": "%s", "x": [1.0]}' % kind.encode()
    assert block == Foreign(kind=kind, raw=Raw(raw), place=PLACE)


def test_a_document_made_of_blocks_is_one_of_this_vendor() -> None:
    assert isinstance(read_block({"type": "document", **source("content")}), Foreign)


def test_arguments_keep_their_text() -> None:
    arguments = '{"b":0.70, "a":12345678901234567890}'
    block = f'{{"type":"tool_use","id":"a","name":"f","input": {arguments}}}'
    body = f'{{"messages":[{{"role":"assistant","content":[{block}]}}]}}'
    call = read_request(body.encode(), RequestLine()).messages[0].blocks[0]
    assert isinstance(call, ToolCall)
    assert call.arguments == arguments


def test_citations_of_an_answer_are_no_loss() -> None:
    cited = {"type": "web_search_result_location", "cited_text": "c", "url": "u", "title": "t"}
    block = {"type": "text", "text": "x", "citations": [cited]}
    request = read(messages=[{"role": "assistant", "content": [block]}])
    assert request.messages[0].blocks == [Text(text="x", place=PLACE)]
    assert request.unread == []


@each(
    ("members", "thinking"),
    [
        ({"thinking": {"type": "disabled"}}, Thinking(off=True)),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, Thinking(budget=2000)),
        (
            {"thinking": {"type": "adaptive", "display": "omitted"}},
            Thinking(adaptive=True, visible=False),
        ),
        ({"thinking": {"type": "between_tools"}}, Thinking(adaptive=True)),
        ({"output_config": {"effort": "low"}}, Thinking(effort="low")),
        (
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "max"},
            },
            Thinking(adaptive=True, effort="max", visible=True),
        ),
        ({}, None),
    ],
)
def test_thinking(members: dict[str, Any], thinking: Thinking | None) -> None:
    assert read(messages=[], **members).thinking == thinking


@each(
    ("choice", "neutral", "parallel"),
    [
        ({"type": "auto"}, ToolChoice("auto"), None),
        ({"type": "none"}, ToolChoice("none"), None),
        (
            {"type": "any", "disable_parallel_tool_use": True},
            ToolChoice("any"),
            False,
        ),
        (
            {"type": "tool", "name": "f", "disable_parallel_tool_use": False},
            ToolChoice("any", ("f",)),
            True,
        ),
    ],
)
def test_tool_choice(choice: dict[str, Any], neutral: ToolChoice, parallel: bool | None) -> None:
    request = read(messages=[], tool_choice=choice)
    assert (request.tool_choice, request.parallel_calls) == (neutral, parallel)


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@each(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function", "name": "f", "description": "d", "input_schema": SCHEMA},
    ],
)
def test_a_function_in_the_words_of_openai_is_one(tool: dict[str, Any]) -> None:
    request = read(messages=[], tools=[tool])
    (function,) = request.tools
    assert isinstance(function, Tool)
    assert (function.name, function.description) == ("f", "d")
    assert json.loads(bytes(function.schema or b"")) == SCHEMA
    assert request.unread == []


def test_a_web_search_is_one_whose_options_are_this_vendors() -> None:
    request = read(
        messages=[],
        tools=[{"type": "web_search_20260318", "name": "web_search", "max_uses": 3}],
    )
    (tool,) = request.tools
    assert isinstance(tool, BuiltInTool)
    assert (tool.kind, tool.name) == ("web_search", "web_search_20260318")
    assert request.unread == ["tools[0].max_uses"]


HINTS = {
    "metadata": {"user_id": "u", "team": "a"},
    "service_tier": "standard_only",
    "thinking": {"type": "adaptive", "display": "updates"},
    "cache_control": {"type": "ephemeral"},
    "context_management": {"edits": []},
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "f", "cache_control": {"type": "ephemeral"}, "eager_input_streaming": True}],
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "t", "cache_control": {"type": "ephemeral"}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "i", "name": "n", "caller": {"type": "direct"}}],
        },
    ],
}


def refused_places(request: ChatRequest) -> list[str]:
    losses = Losses(LANGUAGE.hints)
    for place in request.unread:
        losses.add(place)
    return [loss.place for loss in losses.losses if not loss.hint]


def test_what_changes_no_answer_may_be_lost() -> None:
    request = read(**HINTS)
    assert len(request.unread) == 10
    assert refused_places(request) == []


@each(
    ("members", "places"),
    [
        ({"container": "c1"}, ["container"]),
        ({"inference_geo": "us"}, ["inference_geo"]),
        ({"mcp_servers": [{}]}, ["mcp_servers"]),
        ({"output_config": {"task_budget": {}}}, ["output_config.task_budget"]),
        ({"tools": [{"name": "f", "defer_loading": True}]}, []),
        ({"tools": [{"name": "f", "type": "custom", "defer_loading": False}]}, []),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "document", **source("url", url="u"), "context": "c"}],
                    }
                ]
            },
            ["messages[0].content[0].context"],
        ),
    ],
)
def test_what_changes_the_answer_is_noted(members: dict[str, Any], places: list[str]) -> None:
    assert refused_places(read(**{"messages": [], **members})) == places


@each(
    ("members", "place"),
    [
        ({"messages": {}}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{}]}]}, f"{PLACE}.type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, f"{PLACE}.text"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, f"{PLACE}.source"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "tool_use", "input": "text"}]},
                ]
            },
            f"{PLACE}.input",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", **source("url")}]}]},
            f"{PLACE}.source",
        ),
        ({"system": [{"type": "image"}]}, "system[0].type"),
        ({"temperature": "hot"}, "temperature"),
        ({"thinking": {"type": "deep"}}, "thinking.type"),
        ({"thinking": {"type": "enabled"}}, "thinking.budget_tokens"),
        ({"tool_choice": {"type": "some"}}, "tool_choice.type"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
    ],
)
def test_a_wrong_value_is_named(members: dict[str, Any], place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(**members)
    assert excinfo.value.place == place


def test_fields_with_other_names_here_have_their_places() -> None:
    request = read(
        messages=[],
        stop_sequences=["x"],
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": {}}},
        metadata={"user_id": "u"},
    )
    places = {name: request.place_of(name) for name in ("stop", "thinking", "output", "user")}
    assert places == {
        "stop": "stop_sequences",
        "thinking": "output_config.effort",
        "output": "output_config.format",
        "user": "metadata.user_id",
    }


def test_a_result_inside_a_result_is_passed_on_as_it_came() -> None:
    inner = {"type": "tool_result", "tool_use_id": "b", "content": []}
    block = read_block({"type": "tool_result", "tool_use_id": "a", "content": [inner]})
    raw = Raw(json.dumps(inner).encode())
    place = f"{PLACE}.content[0]"
    assert block.content == [Foreign(kind="tool_result", raw=raw, place=place)]


BILLING = "x-anthropic-billing-header: cc_version=2.1.42.0a1; cc_entrypoint=cli; cch=4f2b1;"


@each(
    ("system", "texts"),
    [
        ([{"type": "text", "text": BILLING}, {"type": "text", "text": "Be kind."}], ["Be kind."]),
        ([{"type": "text", "text": f"{BILLING}\n\nBe kind."}], ["Be kind."]),
        (f"{BILLING}\nBe kind.\nAnd short.", ["Be kind.\nAnd short."]),
        (BILLING, []),
        (f"Never write {BILLING}", [f"Never write {BILLING}"]),
        ([{"type": "text", "text": ""}, {"type": "text", "text": "Be kind."}], ["", "Be kind."]),
    ],
)
def test_what_a_client_changes_with_each_request_is_left_out(system: Any, texts: list[str]) -> None:
    assert [text.text for text in read(system=system).system] == texts

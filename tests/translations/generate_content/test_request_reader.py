"""Requests -> the neutral form."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request import (
    BuiltInTool,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
    any_object,
)
from tests.support.each import each
from tests.translations.generate_content.request_reading import Json, call, read, returned


@each(
    ("query", "stream", "as_list"),
    [
        ("alt=sse", True, False),
        ("key=x&%24alt=sse", True, False),
        ("", True, True),
        ("alt=json", True, True),
        ("alt=sse", False, False),
    ],
)
def test_a_stream_is_events_or_an_array(query: str, stream: bool, as_list: bool) -> None:
    request = read({"contents": []}, query, stream=stream)
    assert (request.stream, request.as_list) == (stream, as_list)


@each(
    ("instructions", "texts"),
    [
        ({"systemInstruction": {"parts": [{"text": "a"}, {"text": "b"}]}}, ["a", "b"]),
        ({"system_instruction": {"role": "user", "parts": [{"text": "a"}]}}, ["a"]),
        ({"systemInstruction": "a"}, ["a"]),
        ({"systemInstruction": {"parts": []}}, []),
        ({"systemInstruction": None}, []),
    ],
)
def test_every_part_of_the_instructions_counts(instructions: Json, texts: list[str]) -> None:
    assert [text.text for text in read({"contents": [], **instructions}).system] == texts


def test_tools() -> None:
    function = {
        "name": "f",
        "description": "Looks.",
        "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}},
    }
    other = {"name": "g", "parameters_json_schema": {"type": "object"}}
    request = read(
        {
            "contents": [],
            "tools": [
                {"functionDeclarations": [function]},
                {"functionDeclarations": [other, {"name": "h"}]},
                {"google_search": {}},
                {"codeExecution": {}},
            ],
        }
    )
    first, second, third, search, code = request.tools
    assert isinstance(first, Tool)
    assert json.loads(bytes(first.schema or b"")) == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}},
    }
    assert isinstance(second, Tool)
    assert isinstance(third, Tool)
    assert (second.name, second.schema, third.schema) == ("g", Raw(b'{"type": "object"}'), None)
    assert isinstance(search, BuiltInTool)
    assert isinstance(code, BuiltInTool)
    assert (search.kind, code.kind, code.name) == ("web_search", "", "codeExecution")
    assert code.place == "tools[3].codeExecution"


@each(
    ("config", "choice"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "any", "allowedFunctionNames": ["f"]}, ToolChoice("any", ("f",))),
        ({"mode": "NONE"}, ToolChoice("none")),
        ({"mode": "VALIDATED", "allowed_function_names": ["f"]}, ToolChoice("auto", ("f",))),
        ({"mode": "MODE_UNSPECIFIED"}, ToolChoice("auto")),
        ({}, ToolChoice("auto")),
    ],
)
def test_the_choice_of_tools(config: Json, choice: ToolChoice) -> None:
    request = read({"contents": [], "toolConfig": {"functionCallingConfig": config}})
    assert request.tool_choice == choice
    assert request.place_of("tool_choice") == "toolConfig.functionCallingConfig"


@each(
    ("thresholds", "unread"),
    [
        (["BLOCK_NONE", "OFF"], []),
        ([], []),
        (["BLOCK_NONE", "BLOCK_ONLY_HIGH"], ["safetySettings"]),
        (["HARM_BLOCK_THRESHOLD_UNSPECIFIED"], []),
    ],
)
def test_filters_that_filter_nothing_are_no_loss(thresholds: list[str], unread: list[str]) -> None:
    settings = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": o} for o in thresholds]
    assert read({"contents": [], "safetySettings": settings}).unread == unread


def test_only_a_request_to_store_is_a_loss() -> None:
    assert read({"contents": [], "store": False}).unread == []
    assert read({"contents": [], "store": True}).unread == ["store"]


@each(
    ("document", "place"),
    [
        ({"contents": "Hi"}, "contents"),
        ({"contents": [1]}, "contents[0]"),
        ({"contents": [{"role": "system"}]}, "contents[0].role"),
        ({"contents": [{"role": 1}]}, "contents[0].role"),
        ({"contents": [{"parts": {}}]}, "contents[0].parts"),
        ({"contents": [{"parts": ["a"]}]}, "contents[0].parts[0]"),
        ({"contents": [{"parts": [{"text": 1}]}]}, "contents[0].parts[0].text"),
        ({"contents": [{"parts": [call("")]}]}, "contents[0].parts[0].functionCall.name"),
        (
            {"contents": [{"parts": [returned("f", "text")]}]},
            "contents[0].parts[0].functionResponse.response",
        ),
        ({"contents": [], "systemInstruction": 1}, "systemInstruction"),
        ({"contents": [], "systemInstruction": {"parts": [call("f")]}}, "systemInstruction"),
        ({"contents": [], "tools": {}}, "tools"),
        ({"contents": [], "tools": [{"functionDeclarations": 1}]}, "tools[0].functionDeclarations"),
        ({"contents": [], "generationConfig": []}, "generationConfig"),
        (
            {"contents": [], "generationConfig": {"stopSequences": "x"}},
            "generationConfig.stopSequences",
        ),
        ({"contents": [], "safetySettings": [1]}, "safetySettings[0]"),
    ],
)
def test_another_type_is_named_with_its_place(document: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(document)
    assert excinfo.value.place == place


@each(
    ("config", "output"),
    [
        ({"responseMimeType": "text/plain"}, None),
        ({"responseMimeType": "application/json"}, any_object()),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
            OutputFormat(kind="json_schema", schema=Raw(b'{"type": "object"}')),
        ),
        (
            {"response_mime_type": "application/json", "response_schema": {"type": "STRING"}},
            OutputFormat(kind="json_schema", schema=Raw(b'{"type":"string"}')),
        ),
    ],
)
def test_the_form_of_the_answer(config: Json, output: OutputFormat | None) -> None:
    request = read({"contents": [], "generationConfig": config})
    assert (request.output, request.unread) == (output, [])


def test_a_word_of_an_enumeration_is_not_carried() -> None:
    config = {
        "responseMimeType": "text/x.enum",
        "responseSchema": {"type": "STRING", "enum": ["a"]},
    }
    request = read({"contents": [], "generationConfig": config})
    assert (request.output, request.unread) == (None, ["generationConfig.responseMimeType"])


@each(
    ("config", "thinking"),
    [
        ({"thinkingBudget": 0}, Thinking(off=True, visible=False)),
        ({"thinkingBudget": -1}, Thinking(adaptive=True, visible=False)),
        ({"thinkingBudget": 512, "includeThoughts": True}, Thinking(budget=512, visible=True)),
        (
            {"thinkingLevel": "HIGH", "includeThoughts": False},
            Thinking(effort="high", visible=False),
        ),
        ({"thinking_level": "low"}, Thinking(effort="low", visible=False)),
        ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, Thinking(visible=False)),
        ({}, Thinking(visible=False)),
    ],
)
def test_thinking(config: Json, thinking: Thinking) -> None:
    request = read({"contents": [], "generationConfig": {"thinkingConfig": config}})
    assert request.thinking == thinking

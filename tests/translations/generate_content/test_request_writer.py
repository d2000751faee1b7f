"""The request line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.content import Text
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
    any_object,
)
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    FLASH_3,
    HI,
    IMAGE,
    LITE,
    LOOK,
    OLD,
    PRO,
    PRO_3,
    PRO_31,
    SCHEMA,
    SEARCH,
    Json,
    contents,
    losing,
    turn,
    write,
)


@each(
    ("model", "stream", "path", "query"),
    [
        ("gemini-3-pro", False, "/models/gemini-3-pro:generateContent", ""),
        ("gemini-3-pro", True, "/models/gemini-3-pro:streamGenerateContent", "alt=sse"),
        ("models/gemini-3-pro", False, "/models/gemini-3-pro:generateContent", ""),
        ("tunedModels/my-1", False, "/tunedModels/my-1:generateContent", ""),
        ("a/../b?c", False, "/models/a%2F..%2Fb%3Fc:generateContent", ""),
    ],
)
def test_the_url_names_the_model(model: str, stream: bool, path: str, query: str) -> None:
    request = ChatRequest(language="other", model="alias", messages=[HI], stream=stream)
    target_request = write_request(request, model, Losses(Patterns(())))
    assert (target_request.path, target_request.query) == (path, query)


def test_instructions_stand_above_the_conversation_each_in_a_part() -> None:
    body = write(
        PRO_3,
        [turn("system", Text(text="c")), HI, turn("system", Text(text="d"))],
        system=[Text(text="a"), Text(text=""), Text(text="b")],
    )
    assert body["systemInstruction"] == {
        "parts": [{"text": "a"}, {"text": "b"}, {"text": "c"}, {"text": "d"}]
    }
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]


def test_instructions_are_text() -> None:
    _, losses = losing(PRO_3, [turn("system", IMAGE), HI])
    assert losses == ["image"]


def test_neighbours_of_one_role_are_one_turn_and_empty_texts_none() -> None:
    result = contents(
        turn("user", Text(text="a")),
        turn("user", Text(text=""), Text(text="b")),
        turn("assistant", Text(text="")),
        turn("user", Text(text="c")),
    )
    assert result == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "user", "parts": [{"text": "c"}]},
    ]


@each(("model", "losses"), [(OLD, []), (FLASH, ["assistant"]), (PRO_3, ["assistant"])])
def test_only_older_models_continue_an_assistants_turn(model: str, losses: list[str]) -> None:
    assert losing(model, [HI, turn("assistant", Text(text="I"))])[1] == losses


@each("messages", [[], [turn("system", Text(text="Be brief."))], [turn("user", Text(text=""))]])
def test_a_conversation_that_says_nothing_is_refused(messages: list[Message]) -> None:
    with pytest.raises(WrongType) as excinfo:
        write(PRO_3, messages)
    assert excinfo.value.place == "messages"


def test_functions_have_a_json_schema_or_a_subset_of_it() -> None:
    tool = Tool(name="look", description="Looks.", schema=SCHEMA, place="tools[0]")
    (newer,) = write(PRO_3, tools=[tool, Tool(name="time")])["tools"][0:1]
    assert newer["functionDeclarations"] == [
        {
            "name": "look",
            "description": "Looks.",
            "parametersJsonSchema": json.loads(bytes(SCHEMA)),
        },
        {"name": "time"},
    ]
    (older,) = write(OLD, tools=[tool])["tools"]
    assert older["functionDeclarations"][0]["parameters"] == {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING"}},
    }


@each("schema", [b'{"type":"object"}', b'{"type":"object","properties":{}}', None])
def test_older_models_get_no_parameters_without_members(schema: bytes | None) -> None:
    tool = Tool(name="look", schema=None if schema is None else Raw(schema))
    assert write(OLD, tools=[tool])["tools"] == [{"functionDeclarations": [{"name": "look"}]}]


@each("name", ["1st", "-a", "a.b", "a b", "x" * 65, "é"])
def test_a_name_that_the_vendor_refuses_is_given_back_as_it_was(name: str) -> None:
    request = ChatRequest(language="other", model="alias", messages=[HI], tools=[Tool(name=name)])
    target_request = write_request(request, PRO_3, Losses(Patterns(())))
    (function,) = json.loads(target_request.body)["tools"][0]["functionDeclarations"]
    assert target_request.tool_names == {function["name"]: name}
    first = function["name"][0]
    assert first == "_" or (first.isascii() and first.isalpha())
    assert len(function["name"]) <= 64


@each(
    ("choice", "config"),
    [
        (None, None),
        (ToolChoice("auto"), {"mode": "AUTO"}),
        (ToolChoice("none", ("look",)), {"mode": "NONE"}),
        (ToolChoice("any"), {"mode": "ANY"}),
        (ToolChoice("any", ("look",)), {"mode": "ANY", "allowedFunctionNames": ["look"]}),
        (ToolChoice("auto", ("look",)), {"mode": "VALIDATED", "allowedFunctionNames": ["look"]}),
    ],
)
def test_the_choice_of_tools(choice: ToolChoice | None, config: Json | None) -> None:
    body = write(PRO_3, tools=[LOOK], tool_choice=choice)
    assert body.get("toolConfig", {}).get("functionCallingConfig") == config
    assert "toolConfig" not in write(PRO_3, tool_choice=choice)


@each(
    ("model", "tools", "expected", "expected_losses"),
    [
        (FLASH, [SEARCH], ["googleSearch"], []),
        (PRO_3, [LOOK, SEARCH], ["functionDeclarations", "googleSearch"], []),
        (FLASH, [LOOK, SEARCH], ["functionDeclarations"], ["tools[1]"]),
        (
            PRO_3,
            [BuiltInTool(name="bash", raw=Raw(b"{}"), place="tools[0]")],
            [],
            ["tools[0]"],
        ),
        (
            PRO_3,
            [Tool(name="look", strict=True, place="t")],
            ["functionDeclarations"],
            ["(t.strict)"],
        ),
    ],
)
def test_tools_that_the_vendor_runs(
    model: str, tools: list[Any], expected: list[str], expected_losses: list[str]
) -> None:
    body, losses = losing(model, tools=tools)
    assert [name for tool in body.get("tools", []) for name in tool] == expected
    assert losses == expected_losses
    together = body.get("toolConfig", {}).get("includeServerSideToolInvocations", False)
    assert together == (len(expected) == 2)


def test_beside_a_search_calls_are_not_automatic() -> None:
    body = write(PRO_3, tools=[LOOK, SEARCH], tool_choice=ToolChoice("auto"))
    assert body["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"},
        "includeServerSideToolInvocations": True,
    }


def test_parameters_keep_the_text_of_their_numbers() -> None:
    request = ChatRequest(
        language="other", model="a", messages=[HI], temperature=Raw(b"0.70"), top_p=Raw(b"0.90")
    )
    body = write_request(request, PRO_3, Losses(Patterns(()))).body
    assert b'"temperature":0.70,"topP":0.90' in body


@each(
    ("members", "config", "expected_losses"),
    [
        ({"max_tokens": 9, "candidates": 2}, {"maxOutputTokens": 9, "candidateCount": 2}, []),
        ({"seed": Raw(b"7"), "top_k": Raw(b"40")}, {"seed": 7, "topK": 40}, []),
        ({"logprobs": True, "top_logprobs": 3}, {"responseLogprobs": True, "logprobs": 3}, []),
        ({"stop": ["a"]}, {"stopSequences": ["a"]}, []),
        ({"stop": list("abcdef")}, {"stopSequences": list("abcde")}, ["stop"]),
        ({"user": "u"}, {}, ["(user)"]),
        ({"verbosity": "low"}, {}, ["verbosity"]),
        ({"verbosity": "medium"}, {}, []),
        ({"parallel_calls": False}, {}, []),
        ({"parallel_calls": True}, {}, []),
        ({"presence_penalty": Raw(b"0"), "frequency_penalty": Raw(b"0.0")}, {}, []),
        ({"presence_penalty": Raw(b"0.5")}, {}, ["presence_penalty"]),
    ],
)
def test_parameters(members: Json, config: Json, expected_losses: list[str]) -> None:
    body, losses = losing(PRO_3, **members)
    assert (body.get("generationConfig", {}), losses) == (config, expected_losses)


def test_penalties_where_the_model_takes_them() -> None:
    body = write(FLASH, presence_penalty=Raw(b"0.5"), frequency_penalty=Raw(b"0"))
    assert body["generationConfig"] == {"presencePenalty": 0.5, "frequencyPenalty": 0}


@each(
    ("model", "output", "expected"),
    [
        (PRO_3, any_object(), {"responseMimeType": "application/json"}),
        (
            FLASH,
            OutputFormat(kind="json_schema", schema=SCHEMA, name="n", strict=True),
            {
                "responseMimeType": "application/json",
                "responseJsonSchema": json.loads(bytes(SCHEMA)),
            },
        ),
        (
            OLD,
            OutputFormat(kind="json_schema", schema=SCHEMA),
            {
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
            },
        ),
    ],
)
def test_the_form_of_the_answer(model: str, output: OutputFormat, expected: Json) -> None:
    assert write(model, output=output)["generationConfig"] == expected


@each(("model", "expected_losses"), [(OLD, ["output"]), (FLASH, ["output"]), (PRO_3, [])])
def test_a_form_of_the_answer_beside_tools_takes_the_third_generation(
    model: str, expected_losses: list[str]
) -> None:
    body, losses = losing(
        model, output=OutputFormat(kind="json_schema", schema=SCHEMA), tools=[LOOK]
    )
    assert losses == expected_losses
    assert ("generationConfig" in body) == (not expected_losses)


@each(
    ("model", "thinking", "config", "expected_losses"),
    [
        (PRO_3, Thinking(effort="medium"), {"thinkingLevel": "LOW"}, []),
        (PRO_3, Thinking(effort="max"), {"thinkingLevel": "HIGH"}, []),
        (PRO_31, Thinking(effort="medium"), {"thinkingLevel": "MEDIUM"}, []),
        (FLASH_3, Thinking(effort="minimal"), {"thinkingLevel": "MINIMAL"}, []),
        (FLASH_3, Thinking(budget=9000), {"thinkingLevel": "HIGH"}, []),
        (FLASH_3, Thinking(adaptive=True), {}, []),
        (PRO_3, Thinking(off=True), {"thinkingLevel": "LOW"}, ["(thinking)"]),
        (
            FLASH_3,
            Thinking(effort="none", visible=True),
            {"thinkingLevel": "MINIMAL"},
            ["(thinking)"],
        ),
        (FLASH, Thinking(effort="high"), {"thinkingBudget": 8192}, []),
        (FLASH, Thinking(budget=90_000), {"thinkingBudget": 24_576}, []),
        (FLASH, Thinking(off=True), {"thinkingBudget": 0}, []),
        (FLASH, Thinking(effort="none"), {"thinkingBudget": 0}, []),
        (FLASH, Thinking(adaptive=True), {"thinkingBudget": -1}, []),
        (LITE, Thinking(budget=9), {"thinkingBudget": 512}, []),
        (LITE, Thinking(off=True), {"thinkingBudget": 0}, []),
        (PRO, Thinking(off=True), {"thinkingBudget": 128}, ["(thinking)"]),
        (PRO, Thinking(effort="max"), {"thinkingBudget": 32_768}, []),
        (OLD, Thinking(effort="low"), {}, ["(thinking)"]),
        (OLD, Thinking(off=True), {}, []),
        (
            PRO_3,
            Thinking(effort="high", visible=True),
            {"thinkingLevel": "HIGH", "includeThoughts": True},
            [],
        ),
        (PRO_3, Thinking(visible=True), {"includeThoughts": True}, []),
        (PRO_3, Thinking(visible=False), {}, []),
    ],
)
def test_thinking(model: str, thinking: Thinking, config: Json, expected_losses: list[str]) -> None:
    body, losses = losing(model, thinking=thinking)
    thinking_config = body.get("generationConfig", {}).get("thinkingConfig", {})
    assert (thinking_config, losses) == (config, expected_losses)

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
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool, ToolChoice
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    HI,
    IMAGE,
    LOOK,
    OLD,
    PRO_3,
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

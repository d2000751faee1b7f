"""Tools and which of them may be called."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Tool,
    ToolChoice,
)
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    HI,
    LOOK,
    OLD,
    PRO_3,
    SCHEMA,
    SEARCH,
    Json,
    losing,
    write,
)


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
            [BuiltInTool(language="other", name="bash", raw=Raw(b"{}"), place="tools[0]")],
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

"""Converse requests as a whole: their path and the vendor's own serialization."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations import languages, target_language
from engine.translations.neutral.content import Text, ToolCall, ToolResult
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import BuiltInTool, Message, OutputFormat, Tool, ToolChoice
from engine.translations.translation import Translation
from tests.support import bedrock
from tests.support.each import each
from tests.support.translations import NEVER_DROPPED
from tests.translations.converse.writing import (
    CLAUDE,
    CLAUDE_4_1,
    HI,
    LLAMA,
    NOVA,
    assistant,
    user,
    written,
)

PATHS = [
    (CLAUDE, "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
    (
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/abc",
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fabc",
    ),
]


@each(("model", "encoded"), PATHS)
def test_the_path_names_the_model_percent_encoded(model: str, encoded: str) -> None:
    assert written(model).request.path == f"/model/{encoded}/converse"
    assert written(model, stream=True).request.path == f"/model/{encoded}/converse-stream"


@pytest.mark.parametrize("model", [CLAUDE, NOVA, LLAMA])
@pytest.mark.parametrize("source", languages(), ids=lambda each: each.name)
def test_every_feature_is_written_as_the_vendors_sdk_does(source: Language, model: str) -> None:
    translation = Translation(source, target_language("converse"))
    for feature in source.features.features:
        if feature.name in NEVER_DROPPED:
            continue
        body, line = source.features.request(feature, model), RequestLine(model=model)
        exchange = translation.request(body, line, model, LossRules(lossy=True))
        target_request = exchange.target_request
        streams = exchange.request.stream
        assert bedrock.problems(model, target_request.body, stream=streams) == [], feature.name
        sdk = bedrock.serialized(model, target_request.body, stream=streams)
        assert (target_request.path, json.loads(target_request.body)) == sdk, feature.name


def test_points_of_the_cache_are_four_in_all() -> None:
    blocks = [Text(text=str(number), cache="5m") for number in range(4)]
    request = written(CLAUDE, user(*blocks), system=[Text(text="a", cache="1h")])
    assert request.body["system"] == [{"text": "a"}]
    assert sum("cachePoint" in block for block in request.content) == 4


def roles(body: dict[str, list[dict[str, str]]]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def system(text: str) -> Message:
    return Message(role="system", blocks=[Text(text=text)], place="s")


def test_instructions_stand_above_the_conversation() -> None:
    request = written(NOVA, HI, system("b"), HI, system=[Text(text="a")])
    assert request.body["system"] == [{"text": "a"}, {"text": "b"}]
    assert roles(request.body) == ["user"]
    assert len(request.content) == 2


def test_neighbours_of_one_role_are_one_turn() -> None:
    answer = assistant(Text(text="x"))
    assert roles(written(NOVA, HI, HI, answer, answer, HI).body) == ["user", "assistant", "user"]
    body = written(NOVA, HI, assistant(Text(text=" ")), HI, answer, HI).body  # one says nothing
    assert roles(body) == ["user", "assistant", "user"]
    assert len(body["messages"][0]["content"]) == 2


def test_results_come_first_in_their_turn() -> None:
    call = assistant(ToolCall(id="t", name="f"))
    result = ToolResult(id="t", content=[Text(text="x")])
    content = written(NOVA, HI, call, user(Text(text="a"), result)).body["messages"][2]["content"]
    assert [next(iter(block)) for block in content] == ["toolResult", "text"]


def test_only_some_models_continue_their_own_turn() -> None:
    turns = (HI, assistant(Text(text="I think ")))
    request = written(CLAUDE_4_1, *turns)
    assert request.body["messages"][1]["content"] == [{"text": "I think"}]
    request = written(NOVA, *turns)
    assert request.lost == {"messages[1]": "the model does not continue an assistant's turn"}
    assert roles(request.body) == ["user"]


def test_a_greeting_stays_behind_a_turn_of_the_users_where_one_must_begin() -> None:
    request = written(NOVA, assistant(Text(text="x")), HI)
    assert (roles(request.body), request.lost) == (["user", "assistant", "user"], {})
    assert request.body["messages"][0]["content"] == [{"text": "(The assistant begins.)"}]
    assert roles(written(CLAUDE_4_1, assistant(Text(text="x")), HI).body) == ["assistant", "user"]


def test_instructions_behind_a_models_turn_are_lost() -> None:
    request = written(CLAUDE_4_1, HI, assistant(Text(text="x")), system("y"))
    assert request.lost == {"s": "instructions cannot follow an assistant's turn"}


def test_a_request_of_which_nothing_remains_is_refused() -> None:
    blank = user(Text(text=" "))
    assert written(NOVA, blank).remainder_error is not None
    assert written(NOVA, HI, assistant(Text(text="x")), blank).remainder_error is not None
    assert written(NOVA, HI).remainder_error is None


OBJECT = Raw(b'{"type":"object"}')
F, G = Tool(name="f", description="F", schema=OBJECT), Tool(name="g", schema=OBJECT)
CALLED = (
    HI,
    assistant(ToolCall(id="t", name="f", arguments='{"a":1}')),
    user(ToolResult(id="t", content=[Text(text="x")])),
)


def names(body: Any) -> list[str]:
    tools = body.get("toolConfig", {}).get("tools", [])
    return [each["toolSpec"]["name"] for each in tools if "toolSpec" in each]


def test_a_tool_has_its_schema_and_a_description_that_is_not_empty() -> None:
    tools = written(CLAUDE, tools=[F, G, Tool(name="h")]).body["toolConfig"]["tools"]
    schemas = [{"type": "object"}, {"type": "object"}, {"type": "object", "properties": {}}]
    assert [each["toolSpec"]["inputSchema"]["json"] for each in tools] == schemas
    assert [each["toolSpec"].get("description") for each in tools] == ["F", None, None]


CHOICES = [
    (None, ["f", "g"], None),
    (ToolChoice("auto"), ["f", "g"], None),
    (ToolChoice("any"), ["f", "g"], {"any": {}}),
    (ToolChoice("any", ("g",)), ["f", "g"], {"tool": {"name": "g"}}),
    (ToolChoice("auto", ("g",)), ["g"], None),
    (ToolChoice("any", ("f", "g")), ["f", "g"], {"any": {}}),
    (ToolChoice("none"), [], None),
]


@each(("choice", "tools", "expected"), CHOICES)
def test_the_choice_of_a_tool(choice: Any, tools: list[str], expected: Any) -> None:
    request = written(CLAUDE, tools=[F, G], tool_choice=choice)
    assert names(request.body) == tools
    assert request.body.get("toolConfig", {}).get("toolChoice") == expected
    assert not request.lost


def test_calls_cannot_be_forbidden_once_there_were_some() -> None:
    request = written(CLAUDE, *CALLED, tools=[F, G], tool_choice=ToolChoice("none"))
    assert list(request.lost) == ["tool_choice"]
    assert names(request.body) == ["f", "g"]


def test_tools_that_were_called_before_are_declared() -> None:
    assert names(written(CLAUDE, *CALLED).body) == ["f"]


def test_long_names_are_shortened_and_known_by_the_short_one() -> None:
    long = Tool(name="a.b" * 40, schema=OBJECT)
    request = written(CLAUDE, tools=[long], tool_choice=ToolChoice("any", (long.name,)))
    (short,) = names(request.body)
    assert request.request.tool_names == {short: long.name}
    assert request.body["toolConfig"]["toolChoice"] == {"tool": {"name": short}}


def test_strict_tools_are_those_of_models_that_check_arguments() -> None:
    schema = Raw(b'{"type":"object","properties":{}}')
    strict = Tool(name="f", schema=schema, strict=True, place="t")
    spec = written(CLAUDE, tools=[strict]).body["toolConfig"]["tools"][0]["toolSpec"]
    assert spec["strict"] is True
    assert written(NOVA, tools=[strict]).hints == {"t.strict"}


def test_marks_of_tools_are_those_of_models_that_keep_them() -> None:
    marked = Tool(name="f", schema=OBJECT, cache="5m")
    point = {"cachePoint": {"type": "default"}}
    assert written(CLAUDE, tools=[marked]).body["toolConfig"]["tools"][1:] == [point]
    assert written(NOVA, tools=[marked]).body["toolConfig"]["tools"][1:] == []


def test_a_tool_that_another_vendor_runs_is_lost() -> None:
    search = BuiltInTool(name="web_search", raw=Raw(b"{}"), place="tools[0]")
    assert list(written(CLAUDE, tools=[search]).lost) == ["tools[0]"]


OUTPUT = OutputFormat(kind="json_schema", schema=OBJECT, name="n", description="Says it.")


@pytest.mark.parametrize("model", [CLAUDE_4_1, NOVA, LLAMA])
def test_a_model_that_takes_no_schema_answers_by_a_tool(model: str) -> None:
    request = written(model, output=OUTPUT)
    name = request.request.answer_tool
    config = request.body["toolConfig"]
    assert names(request.body) == [name]
    assert config["toolChoice"] == {"tool": {"name": name}}
    assert config["tools"][0]["toolSpec"]["description"] == "Says it."


def test_a_call_of_a_tool_may_take_the_place_of_the_answer() -> None:
    request = written(NOVA, output=OUTPUT, tools=[F])
    assert names(request.body) == ["f", request.request.answer_tool]
    assert request.body["toolConfig"]["toolChoice"] == {"any": {}}


def test_a_demanded_call_leaves_no_answer() -> None:
    request = written(NOVA, output=OUTPUT, tools=[F], tool_choice=ToolChoice("any"))
    assert (request.request.answer_tool, names(request.body)) == ("", ["f"])

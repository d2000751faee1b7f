"""Requests that real clients send, for models of another format than the caller's."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from engine.translations import language, target_language, translation
from engine.translations.neutral.content import inline
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import Thinking, Tool, ToolChoice
from engine.translations.translation import TranslatedExchange, Translation
from engine.translations.vendors.openai_request_fields import is_responses_request
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.sdk_accumulators import as_sdk

Json = dict[str, Any]

MODELS = {
    "chat_completions": "gpt-5",
    "responses": "gpt-5",
    "messages": "claude-sonnet-4-5",
    "generate_content": "gemini-3-pro",
    "converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
OBJECT = {"type": "object"}
ASKED = {"role": "user", "content": "Hi"}
FUNCTION = {"type": "function", "name": "f", "parameters": OBJECT, "strict": False}
P = {"name": "P", "input_schema": OBJECT}
FORCED = {"type": "tool", "name": "P", "disable_parallel_tool_use": True}


def exchange(caller: str, target: str, request: Json) -> TranslatedExchange:
    line = RequestLine(model="m", id="req1", time=1_700_000_000)
    translation = Translation(language(caller), target_language(target))
    body = json.dumps({"model": "m", **request}).encode()
    return translation.request(body, line, MODELS[target], LossRules())


def sent(caller: str, target: str, request: Json) -> Json:
    body: Json = json.loads(exchange(caller, target, request).target_request.body)
    return body


@each(
    "request_members",
    [
        {"tools": [], "parallel_tool_calls": False},
        {"parallel_tool_calls": False},
        {"tools": [FUNCTION], "tool_choice": "none", "parallel_tool_calls": False},
    ],
)
@pytest.mark.parametrize("target", ["generate_content", "converse"])
def test_one_call_at_a_time_is_no_wish_where_none_can_be_made(
    target: str, request_members: Json
) -> None:
    translated = exchange("responses", target, {"input": "hi", **request_members})
    assert translated.dropped == []


CALLS = [{"functionCall": {"name": "P", "args": {"a": number}}} for number in (1, 2)]
GEMINI = {"content": {"role": "model", "parts": CALLS}, "finishReason": "STOP", "index": 0}


def test_of_a_forced_tool_the_first_call_is_kept() -> None:
    request = {"max_tokens": 9, "messages": [ASKED], "tools": [P], "tool_choice": FORCED}
    translated = exchange("messages", "generate_content", request)
    answer = json.loads(translated.answer(json.dumps({"candidates": [GEMINI]}).encode()))
    assert [block["input"] for block in answer["content"]] == [{"a": 1}]
    assert answer["stop_reason"] == "tool_use"
    translated.request.stream = True
    stream = translated.stream()
    events = stream.event(json.dumps({"candidates": [GEMINI]}).encode()) + stream.end()
    assert events.count(b'"content_block":{"type":"tool_use"') == 1


SEALED = {"type": "reasoning.text", "text": "", "signature": "modelway:responses:rs_1 gAAA"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def chat(fields: Json) -> Json:
    turn = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    turn["provider_specific_fields"] = fields
    return {"messages": [ASKED, turn, {"role": "tool", "tool_call_id": "c1", "content": "x"}]}


def test_litellms_sdk_sends_thoughts_back_in_a_member_of_its_own() -> None:
    request = chat({"reasoning_details": [SEALED]})
    body = sent("chat_completions", "responses", request)
    reasoning = [item for item in body["input"] if item.get("type") == "reasoning"]
    assert [item["encrypted_content"] for item in reasoning] == ["gAAA"]
    assert exchange("chat_completions", "responses", request).dropped == []


@each("fields", [{"refusal": None}, {"citations": ["x"]}])
@pytest.mark.parametrize("target", ["responses", "messages", "generate_content", "converse"])
def test_what_else_litellms_sdk_found_is_left_out_and_named(target: str, fields: Json) -> None:
    assert exchange("chat_completions", target, chat(fields)).dropped == [
        "messages.provider_specific_fields"
    ]


FORM: Json = {"type": "json_schema", "schema": OBJECT}
ONE_TOOL: Json = {"tools": [{"type": "function", "function": {"name": "f"}}]}


@each(
    "caller,members,fields",
    [
        ("chat_completions", {"max_tokens": 5, "max_completion_tokens": 9}, ["max_tokens"]),
        ("chat_completions", {"max_tokens": 9, "max_completion_tokens": 9}, []),
        ("chat_completions", {"seed": 1, "random_seed": 2}, ["random_seed"]),
        ("chat_completions", {"seed": 1, "random_seed": 1}, []),
        (
            "chat_completions",
            {**ONE_TOOL, "tool_choice": "auto", "function_call": "none"},
            ["function_call"],
        ),
        (
            "chat_completions",
            {**ONE_TOOL, "tool_choice": "auto", "function_call": "auto"},
            [],
        ),
        (
            "chat_completions",
            {"reasoning_effort": "low", "reasoning": {"effort": "high"}},
            ["reasoning"],
        ),
        (
            "chat_completions",
            {"reasoning_effort": "low", "thinking": {"type": "disabled"}},
            ["thinking"],
        ),
        (
            "chat_completions",
            {"reasoning_effort": "low", "thinking": {"type": "enabled"}, "enable_thinking": True},
            [],
        ),
        (
            "chat_completions",
            {"enable_thinking": True, "chat_template_kwargs": {"enable_thinking": False}},
            ["chat_template_kwargs.enable_thinking"],
        ),
        (
            "chat_completions",
            {"enable_thinking": True, "thinking_budget": 0},
            ["thinking_budget"],
        ),
        (
            "messages",
            {
                "max_tokens": 9,
                "output_config": {"format": FORM},
                "output_format": {**FORM, "schema": {"type": "string"}},
            },
            ["output_config.format"],
        ),
        (
            "messages",
            {"max_tokens": 9, "output_config": {"format": FORM}, "output_format": FORM},
            [],
        ),
    ],
)
def test_members_that_say_the_same_do_not_contradict_each_other(
    caller: str, members: Json, fields: list[str]
) -> None:
    body = json.dumps({"messages": [ASKED], **members}).encode()
    assert language(caller).read_request(body, RequestLine()).unread == fields


@each(
    "config,fields",
    [
        ({"responseSchema": OBJECT, "responseJsonSchema": OBJECT}, ["responseSchema"]),
        ({"thinkingConfig": {"thinkingBudget": 0, "thinkingLevel": "high"}}, ["thinkingLevel"]),
        ({"thinkingConfig": {"thinkingBudget": 0, "thinkingLevel": "MINIMAL"}}, []),
        ({"maxOutputTokens": 5, "max_output_tokens": 9}, ["max_output_tokens"]),
    ],
)
def test_members_of_geminis_config_do_not_contradict_each_other(
    config: Json, fields: list[str]
) -> None:
    body = json.dumps({"contents": [], "generationConfig": config}).encode()
    unread = language("generate_content").read_request(body, RequestLine()).unread
    assert [place.rpartition(".")[2] for place in unread] == fields


def test_what_one_member_says_of_thinking_another_adds_to() -> None:
    members = {"reasoning": {"effort": "low"}, "thinking": {"type": "enabled", "budget_tokens": 5}}
    body = json.dumps({"messages": [ASKED], **members}).encode()
    thinking = language("chat_completions").read_request(body, RequestLine()).thinking
    assert thinking == Thinking(effort="low", budget=5)


DEFERRED = [
    {"name": "ToolSearch", "input_schema": OBJECT},
    {"name": "Grep", "input_schema": OBJECT, "defer_loading": True},
    {"name": "Glob", "input_schema": OBJECT, "defer_loading": True},
]
FOUND = [
    ASKED,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ToolSearch"}]},
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "tool_reference", "tool_name": "Grep"}],
            }
        ],
    },
]


def names(body: bytes) -> list[str]:
    return [name for name in ("ToolSearch", "Grep", "Glob") if f'"{name}"' in body.decode()]


@pytest.mark.parametrize("target", [name for name in MODELS if name != "messages"])
def test_a_deferred_tool_is_declared_when_it_is_referred_to(target: str) -> None:
    request = {"max_tokens": 99, "messages": [ASKED], "tools": DEFERRED}
    assert names(exchange("messages", target, request).target_request.body) == ["ToolSearch"]
    translated = exchange("messages", target, {**request, "messages": FOUND})
    assert names(translated.target_request.body) == ["ToolSearch", "Grep"]
    assert b"The tool Grep can be called now." in translated.target_request.body
    assert translated.dropped == []


def test_a_reference_to_a_tool_that_is_not_there_is_refused_by_its_place() -> None:
    request = {"max_tokens": 99, "messages": FOUND, "tools": DEFERRED[:1]}
    with pytest.raises(GatewayError) as excinfo:
        exchange("messages", "responses", request)
    assert excinfo.value.param == "messages[2].content[0].content[0]"


@pytest.mark.parametrize("target", [name for name in MODELS if name != "messages"])
def test_a_tool_that_the_caller_runs_is_a_function(target: str) -> None:
    tools = [{"type": "bash_20250124", "name": "bash"}]
    tools.append({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"})
    translated = exchange(
        "messages", target, {"max_tokens": 99, "messages": [ASKED], "tools": tools}
    )
    body = translated.target_request.body.decode()
    assert all(f'"{tool["name"]}"' in body for tool in tools)
    assert '"insert_text"' in body
    assert translated.dropped == []


RESPONSE = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}
CALLED = {"functionCall": {"id": "c1", "name": "f", "args": {}}}


def contents(*results: Json) -> Json:
    model = {"role": "model", "parts": [CALLED]}
    return {"contents": [{"parts": [{"text": "Hi"}]}, model, *results]}


@each(
    "results",
    [
        [{"role": "user", "parts": [RESPONSE, RESPONSE]}],
        [{"role": "user", "parts": [RESPONSE]}, {"role": "user", "parts": [RESPONSE]}],
    ],
)
@pytest.mark.parametrize("target", [name for name in MODELS if name != "generate_content"])
def test_results_that_are_sent_twice_are_one(target: str, results: list[Json]) -> None:
    once = sent("generate_content", target, contents({"role": "user", "parts": [RESPONSE]}))
    assert sent("generate_content", target, contents(*results)) == once


def test_results_that_differ_are_both_kept() -> None:
    other = {"functionResponse": {**RESPONSE["functionResponse"], "response": {"output": "y"}}}
    body = sent("generate_content", "messages", contents({"parts": [RESPONSE, other]}))
    results = [part for part in body["messages"][2]["content"] if part["type"] == "tool_result"]
    assert [part["content"] for part in results] == ["x", "y"]


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
TEXT = {"type": "output_text", "text": "Hello.", "annotations": []}
MESSAGE = {"type": "message", "id": "m1", "role": "assistant", "content": [TEXT]}
ITEM = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "P", "arguments": "{}"}


def blocks(thinking: Json, *output: Json) -> list[str]:
    """The kinds of the blocks that an Anthropic caller gets, which are the same in a stream."""
    request = {"max_tokens": 9999, "messages": [ASKED], "tools": [P], **thinking}
    translated = exchange("messages", "responses", request)
    response = {"id": "r", "object": "response", "status": "completed", "output": output}
    body = json.dumps({**response, "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
    answer = json.loads(translated.answer(body))
    translated.request.stream = True
    events = translated.answer(body).splitlines()
    starts = [json.loads(line[6:]) for line in events if b'"content_block_start"' in line]
    kinds = [each["content_block"]["type"] for each in starts]
    assert kinds == [block["type"] for block in answer["content"]]
    return kinds


ADAPTIVE = {"thinking": {"type": "adaptive"}}
DISABLED = {"thinking": {"type": "disabled"}}
SUMMED = {**REASONING, "summary": [{"type": "summary_text", "text": "Hm."}]}


@each(
    ("thinking", "output", "kinds"),
    [
        ({}, [REASONING, MESSAGE], ["text"]),
        (DISABLED, [SUMMED, MESSAGE], ["text"]),
        ({}, [REASONING, ITEM], ["thinking", "tool_use"]),
        ({}, [SUMMED, MESSAGE, ITEM], ["text", "thinking", "tool_use"]),
        (ADAPTIVE, [REASONING, MESSAGE], ["thinking", "text"]),
    ],
)
def test_who_asks_for_no_thoughts_gets_none_before_the_text(
    thinking: Json, output: list[Json], kinds: list[str]
) -> None:
    assert blocks(thinking, *output) == kinds


@pytest.mark.parametrize("target", [name for name in MODELS if name != "messages"])
def test_two_tools_of_one_name_are_one_or_refused_by_the_place_of_the_second(target: str) -> None:
    request = {"max_tokens": 99, "messages": [ASKED], "tools": [P, {**P}]}
    once = sent("messages", target, {**request, "tools": [P]})
    assert sent("messages", target, request) == once
    with pytest.raises(GatewayError, match=r"another name than 'tools\[0\]'") as excinfo:
        exchange("messages", target, {**request, "tools": [P, {**P, "description": "Other."}]})
    assert (excinfo.value.status, excinfo.value.param) == (400, "tools[1]")


def thinking_of(target: str, **members: Any) -> Any:
    """What a target is told of thinking by a chat request with these members."""
    body = sent("chat_completions", target, {"messages": [ASKED], "max_tokens": 8000, **members})
    config = body.get("generationConfig", {}).get("thinkingConfig")
    return body.get("thinking", body.get("reasoning", config))


BUDGET = {"type": "enabled", "budget_tokens": 2048}


@each(
    ("members", "claude", "openai"),
    [
        ({"thinking": BUDGET}, BUDGET, {"effort": "low"}),
        ({"thinking": {"type": "disabled"}}, {"type": "disabled"}, {"effort": "minimal"}),
        ({"reasoning": {"max_tokens": 2048}}, BUDGET, {"effort": "low"}),
        ({"reasoning": {"effort": "low"}}, BUDGET, {"effort": "low"}),
        ({"reasoning": {"enabled": False}}, {"type": "disabled"}, {"effort": "minimal"}),
        ({"reasoning": {"exclude": True}}, None, None),
        ({"enable_thinking": False}, {"type": "disabled"}, {"effort": "minimal"}),
        ({"thinking_budget": 2048}, BUDGET, {"effort": "low"}),
        ({"enable_thinking": True, "thinking_budget": 2048}, BUDGET, {"effort": "low"}),
        (
            {"enable_thinking": False, "thinking_budget": 2048},
            {"type": "disabled"},
            {"effort": "minimal"},
        ),
        ({"thinking_budget": 0}, {"type": "disabled"}, {"effort": "minimal"}),
        ({"thinking": {"type": "enabled"}}, {"type": "enabled", "budget_tokens": 4000}, None),
        ({"enable_thinking": True}, {"type": "enabled", "budget_tokens": 4000}, None),
        ({"reasoning_effort": "low", "thinking": {"type": "enabled"}}, BUDGET, {"effort": "low"}),
    ],
)
def test_chats_say_in_vendors_members_how_much_to_think(
    members: Json, claude: Json | None, openai: Json | None
) -> None:
    assert thinking_of("messages", **members) == claude
    assert thinking_of("responses", **members) == openai


@each(
    ("members", "place"),
    [
        ({"thinking": {"type": "often"}}, "thinking.type"),
        ({"reasoning": {"effort": 5}}, "reasoning.effort"),
        ({"reasoning": {"mode": "x"}}, "reasoning.mode"),
    ],
)
def test_odd_wishes_to_think_are_refused_by_their_place(members: Json, place: str) -> None:
    with pytest.raises(GatewayError) as excinfo:
        thinking_of("messages", **members)
    assert excinfo.value.param == place


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}


def test_a_json_object_may_have_a_schema() -> None:
    form = {"type": "json_object", "schema": SCHEMA}
    body = sent("chat_completions", "responses", {"messages": [ASKED], "response_format": form})
    assert body["text"]["format"] == {"type": "json_schema", "name": "response", "schema": SCHEMA}


@pytest.mark.parametrize("target", [name for name in MODELS if name != "messages"])
def test_the_form_of_the_answer_may_have_its_name_of_the_beta(target: str) -> None:
    form = {"type": "json_schema", "schema": SCHEMA}
    request = {"max_tokens": 99, "messages": [ASKED]}
    expected = sent("messages", target, {**request, "output_config": {"format": form}})
    assert sent("messages", target, {**request, "output_format": form}) == expected


@pytest.mark.parametrize("target", [name for name in MODELS if name != "chat_completions"])
def test_what_mistral_takes_of_callers_is_carried(target: str) -> None:
    def request(url: Any, arguments: Any) -> Json:
        image = {"type": "image_url", "image_url": url}
        call = {**CALL, "function": {"name": "f", "arguments": arguments}}
        turn = {"role": "assistant", "content": "", "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": "c1", "content": "x"}
        return {"messages": [{"role": "user", "content": [image]}, turn, result]}

    url = "data:image/png;base64,iVBORw0KGgo="
    expected = sent("chat_completions", target, request({"url": url}, '{"a": 1.0}'))
    assert sent("chat_completions", target, request(url, {"a": 1.0})) == expected


@each(
    ("members", "field"),
    [
        ({"usage": {"include": True}}, "usage"),
        ({"include_reasoning": True}, "include_reasoning"),
        ({"cache_control": {"type": "ephemeral"}}, "cache_control"),
    ],
)
def test_what_routers_have_added_is_left_out_and_named(members: Json, field: str) -> None:
    translated = exchange("chat_completions", "messages", {"messages": [ASKED], **members})
    assert translated.dropped == [field]


SEARCH = {"type": "web_search_20260209", "name": "web_search", "allowed_callers": ["direct"]}
LATER = {**FUNCTION, "defer_loading": True}


def test_declarations_that_say_what_is_so_anyway_cost_nothing() -> None:
    request = {"max_tokens": 99, "messages": [ASKED], "tools": [SEARCH]}
    assert exchange("messages", "responses", request).dropped == []
    assert exchange("responses", "messages", {"input": "hi", "tools": [LATER]}).dropped == []


FOUND_PAGES = {"type": "web_search_result", "url": "https://a", "encrypted_content": "x"}
SEARCHED = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [FOUND_PAGES]},
    {"type": "text", "text": "Found it."},
]
SEARCH_ITEM = {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "x"}}


@pytest.mark.parametrize("target", [name for name in MODELS if name != "messages"])
def test_a_search_of_an_earlier_turn_is_left_out_for_another_vendor(target: str) -> None:
    def request(content: Any) -> Json:
        turn = {"role": "assistant", "content": content}
        return {"max_tokens": 99, "messages": [ASKED, turn, ASKED]}

    translated = exchange("messages", target, request(SEARCHED))
    assert json.loads(translated.target_request.body) == sent(
        "messages", target, request("Found it.")
    )
    assert translated.dropped == ["messages.content"]


@pytest.mark.parametrize("target", [name for name in MODELS if name != "responses"])
def test_an_item_of_a_search_is_left_out_for_another_vendor(target: str) -> None:
    items = [ASKED, {"role": "assistant", "content": "Found it."}, ASKED]
    translated = exchange("responses", target, {"input": [ASKED, SEARCH_ITEM, *items[1:]]})
    assert json.loads(translated.target_request.body) == sent("responses", target, {"input": items})
    assert translated.dropped == ["input"]


def test_a_result_that_can_be_read_is_not_left_out() -> None:
    result = {"type": "code_execution_tool_result", "tool_use_id": "s1", "content": {"stdout": "1"}}
    turn = {"role": "assistant", "content": [{**SEARCHED[0], "name": "code_execution"}, result]}
    with pytest.raises(GatewayError) as excinfo:
        exchange("messages", "responses", {"max_tokens": 99, "messages": [ASKED, turn, ASKED]})
    assert excinfo.value.param == "messages[1].content[1]"


FUNCTIONS = {
    "functions": [{"name": "f", "description": "Finds", "parameters": OBJECT}, {"name": "g"}],
    "function_call": {"name": "f"},
}
FUNCTION_TURNS = [
    ASKED,
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}},
    {"role": "function", "name": "f", "content": "one"},
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":2}'}},
    {"role": "function", "name": "f", "content": "two"},
]


@pytest.mark.parametrize("target", ["responses", "messages", "generate_content", "converse"])
def test_functions_are_tools_of_which_one_is_called_at_a_time(target: str) -> None:
    pair = Translation(language("chat_completions"), target_language(target))
    body = json.dumps({"model": "m", "messages": FUNCTION_TURNS, **FUNCTIONS}).encode()
    request = pair.source.read_request(body, RequestLine())
    assert [getattr(tool, "name", "") for tool in request.tools] == ["f", "g"]
    assert request.tool_choice == ToolChoice("any", ("f",))
    assert (
        exchange("chat_completions", target, {"messages": FUNCTION_TURNS, **FUNCTIONS}).dropped
        == []
    )
    free = {"messages": [ASKED], "functions": FUNCTIONS["functions"], "function_call": "auto"}
    assert exchange("chat_completions", target, free).dropped == []


def test_results_of_functions_belong_to_the_calls_before_them() -> None:
    body = sent("chat_completions", "messages", {"messages": FUNCTION_TURNS, **FUNCTIONS})
    blocks = [block for turn in body["messages"][1:] for block in turn["content"]]
    calls, results = blocks[::2], blocks[1::2]
    assert [call["input"] for call in calls] == [{"a": 1}, {"a": 2}]
    assert [result["content"] for result in results] == ["one", "two"]
    assert [call["id"] for call in calls] == [result["tool_use_id"] for result in results]
    assert calls[0]["id"] != calls[1]["id"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_caller_of_functions_is_answered_with_the_first_call(stream: bool) -> None:
    translated = exchange(
        "chat_completions", "generate_content", {"messages": [ASKED], **FUNCTIONS}
    )
    translated.request.stream = stream
    answer = translated.answer(json.dumps({"candidates": [GEMINI]}).encode())
    [choice] = as_sdk("chat_completions", answer, stream=stream)[0]["choices"]
    assert choice["message"]["function_call"] == {"name": "P", "arguments": '{"a": 1}'}
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "function_call"


CLAUDE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "tool_use",
}
USES = [{"type": "tool_use", "id": f"t{n}", "name": "P", "input": {"a": n}} for n in (1, 2)]


@pytest.mark.parametrize("stream", [False, True])
def test_a_second_call_of_a_target_that_was_told_to_make_one_is_left_out(stream: bool) -> None:
    translated = exchange("chat_completions", "messages", {"messages": [ASKED], **FUNCTIONS})
    translated.request.stream = stream
    usage = {"input_tokens": 1, "output_tokens": 1}
    body = json.dumps({**CLAUDE, "content": USES, "usage": usage}).encode()
    [choice] = as_sdk("chat_completions", translated.answer(body), stream=stream)[0]["choices"]
    assert choice["message"]["function_call"] == {"name": "P", "arguments": '{"a": 1}'}


def test_a_call_without_a_name_is_refused_at_its_place() -> None:
    turn = {"role": "assistant", "content": None, "function_call": {"arguments": "{}"}}
    with pytest.raises(GatewayError) as excinfo:
        exchange("chat_completions", "messages", {"messages": [ASKED, turn]})
    assert excinfo.value.param == "messages[1].function_call.name"


def test_what_else_a_choice_of_tools_says_is_noted() -> None:
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    body = json.dumps({"messages": [ASKED], "tool_choice": choice}).encode()
    request = language("chat_completions").read_request(body, RequestLine())
    assert request.unread == ["tool_choice.disable_parallel_tool_use"]


def test_a_seed_of_mistral_is_refused_by_its_name() -> None:
    with pytest.raises(GatewayError) as excinfo:
        exchange("chat_completions", "messages", {"messages": [ASKED], "random_seed": 5})
    assert excinfo.value.param == "random_seed"


def test_a_conversation_that_may_be_truncated_is_sent_whole() -> None:
    translated = exchange("responses", "messages", {"input": "Hi", "truncation": "auto"})
    assert translated.dropped == ["truncation"]


SPELLINGS = [
    ({"type": "auto"}, ToolChoice("auto")),
    ({"type": "any"}, ToolChoice("any")),
    ({"type": "none"}, ToolChoice("none")),
    ({"type": "tool", "name": "f"}, ToolChoice("any", ("f",))),
    ({"type": "function", "name": "f"}, ToolChoice("any", ("f",))),
]


@each(("choice", "expected"), SPELLINGS)
def test_cursor_chooses_tools_in_the_words_of_other_formats(
    choice: Json, expected: ToolChoice
) -> None:
    tools = [
        {"type": "function", "name": "f", "description": "Finds", "parameters": OBJECT},
        {"name": "g", "description": "Gets", "input_schema": OBJECT},
    ]
    body = json.dumps({"messages": [ASKED], "tools": tools, "tool_choice": choice}).encode()
    request = language("chat_completions").read_request(body, RequestLine())
    declared = [
        (t.name, t.description, bytes(t.schema or b""))
        for t in request.tools
        if isinstance(t, Tool)
    ]
    schema = json.dumps(OBJECT).encode()
    assert declared == [("f", "Finds", schema), ("g", "Gets", schema)]
    assert (request.tool_choice, request.unread) == (expected, [])


@each(
    ("switch", "thinks"),
    [("enable_thinking", True), ("enable_thinking", False), ("thinking", True)],
)
def test_the_switch_of_a_chat_template_is_one_to_think(switch: str, thinks: bool) -> None:
    members = {"chat_template_kwargs": {switch: thinks}}
    body = json.dumps({"messages": [ASKED], **members}).encode()
    request = language("chat_completions").read_request(body, RequestLine())
    assert request.thinking == Thinking(off=not thinks, adaptive=thinks)
    assert request.place_of("thinking") == f"chat_template_kwargs.{switch}"
    members["chat_template_kwargs"]["other"] = True
    with pytest.raises(GatewayError, match=r"chat_template_kwargs\.other"):
        exchange("chat_completions", "messages", {"messages": [ASKED], **members})


@each("members", [{"repetition_penalty": 1.0}, {"min_p": 0}, {"repetition_penalty": None}])
def test_what_changes_no_answer_is_no_loss(members: Json) -> None:
    request = {"messages": [ASKED], **members}
    assert exchange("chat_completions", "messages", request).dropped == []


@pytest.mark.parametrize("target", ["messages", "generate_content", "converse"])
def test_a_session_outlives_arguments_that_are_no_json(target: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    turns = [ASKED, {"role": "assistant", "tool_calls": [call]}]
    turns.append({"role": "tool", "tool_call_id": "c1", "content": "no JSON"})
    body = json.dumps(sent("chat_completions", target, {"messages": turns}))
    assert json.dumps({"arguments": '{"a": '}) in body


@each(
    ("caller", "request_members", "names"),
    [
        ("messages", {"top_k": 0}, ["top_k"]),
        ("messages", {"anthropic_version": "bedrock-2023-05-31"}, ["anthropic_version"]),
        ("messages", {"betas": ["x"]}, ["betas"]),
        (
            "generate_content",
            {"safetySettings": [{"threshold": "HARM_BLOCK_THRESHOLD_UNSPECIFIED"}]},
            [],
        ),
    ],
)
def test_what_clients_of_other_clouds_send_is_left_out(
    caller: str, request_members: Json, names: list[str]
) -> None:
    asked = {
        "messages": {"max_tokens": 9, "messages": [ASKED]},
        "generate_content": {"contents": [{"parts": [{"text": "Hi"}]}]},
    }
    request = {**asked[caller], **request_members}
    assert exchange(caller, "chat_completions", request).dropped == names


TURNS = [ASKED, {"role": "assistant", "content": "a", "prefix": False}, ASKED]


@each(
    ("caller", "request_members", "names"),
    [
        ("chat_completions", {"messages": TURNS}, []),
        ("chat_completions", {"messages": [ASKED], "random_seed": 7}, []),
        (
            "chat_completions",
            {"messages": [ASKED], "provider": {"order": ["OpenAI"], "allow_fallbacks": False}},
            ["provider.order", "provider.allow_fallbacks"],
        ),
        (
            "responses",
            {"input": "Hi", "reasoning": {"context": "all_turns", "mode": "standard"}},
            ["reasoning.context"],
        ),
    ],
)
def test_what_recorded_clients_send_is_carried_or_left_out(
    caller: str, request_members: Json, names: list[str]
) -> None:
    translated = exchange(caller, "generate_content", request_members)
    assert translated.dropped == names
    if "random_seed" in request_members:
        assert json.loads(translated.target_request.body)["generationConfig"]["seed"] == 7


@each(
    ("caller", "request_members", "name"),
    [
        ("chat_completions", {"messages": [*TURNS[:1], {**TURNS[1], "prefix": True}]}, "prefix"),
        (
            "chat_completions",
            {"messages": [ASKED], "provider": {"data_collection": "deny"}},
            "provider.data_collection",
        ),
        ("responses", {"input": "Hi", "reasoning": {"mode": "pro"}}, "reasoning.mode"),
    ],
)
def test_what_they_mean_is_never_dropped(caller: str, request_members: Json, name: str) -> None:
    with pytest.raises(GatewayError, match=re.escape(name)):
        exchange(caller, "generate_content", request_members)


@pytest.mark.parametrize("target", ["responses", "messages", "generate_content", "converse"])
def test_calls_without_ids_and_their_results_are_told_apart_by_their_order(target: str) -> None:
    calls = [
        {**CALL, "id": "", "function": {"name": "f", "arguments": f'{{"a":{n}}}'}} for n in "12"
    ]
    results = [
        {"role": "tool", "content": "one"},
        {"role": "tool", "tool_call_id": "", "content": "two"},
    ]
    turn = {"role": "assistant", "content": "", "tool_calls": calls}
    text = json.dumps(sent("chat_completions", target, {"messages": [ASKED, turn, *results]}))
    ids = re.findall(r'"(?:id|call_id|toolUseId|tool_use_id)": "(call\w*)"', text)
    assert ids == ["call", "call_2", "call", "call_2"]
    assert text.index("one") < text.index("two")


@each(
    ("caller", "members", "dropped"),
    [
        ("messages", {"safeguards": [{"type": "dangerous_tool_use"}]}, "safeguards"),
        ("chat_completions", {"reasoning_split": True}, "reasoning_split"),
        (
            "chat_completions",
            {"reasoning": {"effort": "low", "summary": "auto"}},
            "reasoning.summary",
        ),
    ],
)
def test_what_changes_no_answer_is_left_out_and_named(
    caller: str, members: Json, dropped: str
) -> None:
    limit = {"max_tokens": 99} if caller == "messages" else {}
    request = {"messages": [ASKED], **limit, **members}
    assert exchange(caller, "generate_content", request).dropped == [dropped]


PIXEL = "data:image/png;base64,iVBORw0KGgo="
SOURCE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
IMAGES: list[Json] = [
    {"type": "image_url", "image_url": {"url": PIXEL}},
    {"type": "image_url", "image_url": PIXEL},
    {"type": "input_image", "image_url": PIXEL},
    {"type": "image", "source": SOURCE},
]


@each("image", IMAGES)
@pytest.mark.parametrize("caller", ["chat_completions", "responses", "messages"])
def test_parts_in_the_words_of_another_format_are_carried(caller: str, image: Json) -> None:
    turn = {"role": "user", "content": [{"type": "input_text", "text": "Look."}, image]}
    turns = "input" if caller == "responses" else "messages"
    limit = {"max_tokens": 99} if caller == "messages" else {}
    translated = exchange(caller, "generate_content", {turns: [turn], **limit})
    (content,) = json.loads(translated.target_request.body)["contents"]
    data = {"mimeType": "image/png", "data": "iVBORw0KGgo="}
    assert (content["parts"], translated.dropped) == ([{"text": "Look."}, {"inlineData": data}], [])


EMPTY = [{}, {"content": None}, {"content": ""}, {"content": []}]


@each("content", EMPTY)
@pytest.mark.parametrize("target", ["responses", "messages", "generate_content", "converse"])
def test_a_turn_that_says_and_calls_nothing_is_none(target: str, content: Json) -> None:
    turn = {"role": "assistant", "tool_calls": [], **content}
    translated = exchange("chat_completions", target, {"messages": [ASKED, turn, ASKED]})
    assert translated.dropped == []
    text = translated.target_request.body
    assert b"assistant" not in text
    assert b'"model","parts"' not in text


@pytest.mark.parametrize("target", ["responses", "messages", "generate_content", "converse"])
def test_a_greeting_is_carried(target: str) -> None:
    greeting = {"role": "assistant", "content": "Welcome!"}
    translated = exchange("chat_completions", target, {"messages": [greeting, ASKED]})
    assert translated.dropped == []
    assert translated.target_request.body.index(b"Welcome!") > 0


@each(
    ("target", "model"),
    [
        ("messages", "claude-opus-4-6"),
        ("generate_content", "gemini-3-pro"),
        ("converse", "amazon.nova-pro-v1:0"),
    ],
)
def test_an_answer_that_the_model_cannot_continue_is_refused_by_name(
    target: str, model: str
) -> None:
    begun = {"role": "assistant", "content": "Well,"}
    body = json.dumps({"model": "m", "messages": [ASKED, begun]}).encode()
    translation = Translation(language("chat_completions"), target_language(target))
    with pytest.raises(GatewayError, match=r"'messages\[1\]' .*does not continue"):
        translation.request(body, RequestLine(), model, LossRules())


SUMMARY = "The user wants tea."


@each(("content", "text"), [(SUMMARY, SUMMARY), (None, "")])
def test_a_summary_that_can_be_read_is_a_text_for_other_vendors(
    content: str | None, text: str
) -> None:
    block = {"type": "compaction", "content": content}
    turns = [ASKED, {"role": "assistant", "content": [block]}, ASKED]
    translated = exchange("messages", "chat_completions", {"messages": turns, "max_tokens": 99})
    messages = json.loads(translated.target_request.body)["messages"]
    answers = [each["content"] for each in messages if each["role"] == "assistant"]
    assert answers == ([text] if text else [])
    assert translated.dropped == ([] if text else ["messages.content"])


PNG, JPEG = "iVBORw0KGgo=", "/9j/4AA="


@each(
    ("data", "named", "written"),
    [
        (PNG, "image/png", f"image/png;base64,{PNG}"),
        (f"{PNG[:4]}\r\n{PNG[4:]}\n", "image/png", f"image/png;base64,{PNG}"),
        (f"{PNG[:4]} {PNG[4:]}", "image/png", f"image/png;base64,{PNG}"),
        (f"{PNG[:4]}\t{PNG[4:]}\r", "image/png", f"image/png;base64,{PNG}"),
        (f"data:image/png;base64,{PNG}", "", f"image/png;base64,{PNG}"),
        (f"DATA:application/PDF;base64,{PNG[-4:]}", "", f"application/pdf;base64,{PNG[-4:]}"),
        (JPEG, "image/jpg", f"image/jpeg;base64,{JPEG}"),
        (JPEG, "application/octet-stream", f"image/jpeg;base64,{JPEG}"),
        ("UklGRg==", "audio/wav", "audio/wav;base64,UklGRg=="),
    ],
)
def test_content_in_base64_is_read_as_callers_write_it(data: str, named: str, written: str) -> None:
    source = inline(named, data)
    assert f"{source.media_type};base64,{source.data}" == written


@each(
    ("data", "named", "written"),
    [
        ("-_8", "image/png", "image/png;base64,+/8="),
        ("QU\nJD\r\nREV", "image/png", "image/png;base64,QUJDREV="),
        ("data:image/x-icon;base64,QQ", "", "image/x-icon;base64,QQ=="),
        ("_9j_4AA", "image/jpg", f"image/jpeg;base64,{JPEG}"),
    ],
)
def test_content_of_geminis_callers_has_the_padding_of_its_own_base64(
    data: str, named: str, written: str
) -> None:
    turn = {"role": "user", "parts": [{"inlineData": {"mimeType": named, "data": data}}]}
    body = exchange("generate_content", "chat_completions", {"contents": [turn]})
    assert f'"data:{written}"' in body.target_request.body.decode()


@each("data", ["UklG\nRg==", "data:audio/wav;base64,UklGRg=="])
def test_sounds_in_lines_and_data_urls_are_read(data: str) -> None:
    sound = {"type": "input_audio", "input_audio": {"format": "wav", "data": data}}
    turn = {"role": "user", "content": [sound]}
    (content,) = sent("chat_completions", "generate_content", {"messages": [turn]})["contents"]
    assert content["parts"] == [{"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}]


@each("url", [f"data:image/jpg;base64,{JPEG[:4]}\n{JPEG[4:]}", f"data:;base64,{JPEG}"])
@pytest.mark.parametrize("target", ["responses", "messages", "generate_content", "converse"])
def test_every_target_gets_the_type_of_an_image(target: str, url: str) -> None:
    turn = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    body = exchange("chat_completions", target, {"messages": [turn]}).target_request.body.decode()
    assert JPEG in body
    assert "jpeg" in body
    assert "jpg" not in body
    assert "text/plain" not in body


CURSOR: Json = {
    "input": [ASKED, {"type": "function_call_output", "call_id": "c1", "output": "x"}],
    "tools": [FUNCTION, {"type": "custom", "name": "ApplyPatch", "format": {"type": "text"}}],
    "store": False,
}
"""A request of the Responses API, as Cursor sends it to chat completions."""


@pytest.mark.parametrize("target", ["messages", "responses"])
def test_a_request_of_responses_to_chat_completions_is_answered_as_a_chat(target: str) -> None:
    body = json.dumps({"model": "m", **CURSOR}).encode()
    translated = translation("chat_completions", target).request(
        body, RequestLine(), MODELS[target], LossRules()
    )
    assert isinstance(translated, TranslatedExchange)
    sent_body = json.loads(translated.target_request.body)
    assert [each["name"] for each in sent_body["tools"]] == ["f", "ApplyPatch"]
    answers = {
        "messages": {"content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"},
        "responses": {"output": [{"type": "message", "content": "Hello"}], "status": "completed"},
    }
    answer = json.loads(translated.answer(json.dumps(answers[target]).encode()))
    assert answer["choices"][0]["message"]["content"] == "Hello"


@each(
    ("body", "is_one"),
    [
        (b'{"input":"x"}', True),
        (b'{"tools":[{"messages":1}],"input":[]}', True),
        (b' {"tools":["messages"],"input":[]}', True),
        (b' { "model":"m", "messages": [{"role": "user"}],"input":[]}', False),
        (b'{"a":"' + b" " * 2_000 + b'","tools":[{"messages":1}],"input":[]}', True),
        (b'{"messages":[],"input":"x"}', True),
        (b'{"messages": null,"input":"x"}', True),
        (b'{"messages":[]}', False),
        (b'{"a":"' + b" " * 2_000 + b'","messages":[ ],"input":"x"}', True),
        (b'{"a":"' + b" " * 2_000 + b'","messages":[1],"input":"x"}', False),
        (b'{"prompt":"x"}', False),
        (b'["input"]', False),
    ],
)
def test_a_request_of_responses_has_an_input_and_no_messages(body: bytes, is_one: bool) -> None:
    assert is_responses_request(body) is is_one


@pytest.mark.parametrize("target", ["messages", "chat_completions", "generate_content"])
def test_a_request_of_responses_may_have_members_as_chats_have_them(target: str) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    function = {"name": "f", "parameters": OBJECT}
    right = {
        "input": [call, result],
        "tools": [{"type": "function", **function}],
        "tool_choice": {"type": "function", "name": "f"},
    }
    odd = {
        "input": [{**call, "arguments": {"a": 1}}, result],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
    }
    translated = exchange("responses", target, odd)
    assert translated.dropped == []
    assert json.loads(translated.target_request.body) == sent("responses", target, right)


@pytest.mark.parametrize("target", ["messages", "responses", "generate_content"])
def test_a_chat_may_have_calls_and_results_as_anthropic_has_them(target: str) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "x", "is_error": False}
    in_chats_words = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"a": 1}'},
    }
    anthropics = [
        {"role": "user", "content": "Hi", "id": "m1", "created_at": 1},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    chats = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [in_chats_words]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    requests = [{"messages": each, "reasoning_effort": "default"} for each in (anthropics, chats)]
    first, second = (exchange("chat_completions", target, each) for each in requests)
    assert json.loads(first.target_request.body) == json.loads(second.target_request.body)
    assert first.dropped == ["messages.id", "messages.created_at"]
    call["input"] = "a"
    with pytest.raises(GatewayError, match="input"):
        exchange("chat_completions", target, requests[0])


@pytest.mark.parametrize("target", MODELS)
def test_texts_among_the_parts_of_a_content_are_parts(target: str) -> None:
    """As vLLM takes them (`ChatCompletionContentPartParam` may be a string)."""
    parts = {"chat_completions": "text", "messages": "text", "responses": "input_text"}
    for caller, kind in parts.items():
        name = "input" if caller == "responses" else "messages"
        limit = {"max_tokens": 9} if caller == "messages" else {}
        found = [
            sent(caller, target, {name: [{"role": "user", "content": content}], **limit})
            for content in (["Hi", "Ho"], [{"type": kind, "text": o} for o in ("Hi", "Ho")])
        ]
        assert found[0] == found[1]

"""The neutral form of other languages' requests -> messages requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import OutputConfigParam, ThinkingConfigParam
from msgspec import Raw
from pydantic import TypeAdapter

from engine.translations.messages.request_writer import write_request
from engine.translations.neutral.content import Reasoning, Signature, Text, ToolCall, ToolResult
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
)
from engine.values.wildcard import Patterns
from tests.support.each import each

HI = Message(role="user", blocks=[Text(text="Hi")])
OLD, NEW, ALWAYS = "claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5-5"
LOOK, TIME = Tool(name="look"), Tool(name="time")
SAMPLING = ["temperature", "top_p", "top_k"]
CONFIG: TypeAdapter[Any] = TypeAdapter(ThinkingConfigParam)
OUTPUT: TypeAdapter[Any] = TypeAdapter(OutputConfigParam)
ALONE = {"disable_parallel_tool_use": True}


def write(
    model: str = NEW, language: str = "other", messages: list[Message] | None = None, **members: Any
) -> tuple[Any, list[str]]:
    """The body for a caller of another language, and the places of the losses: those of hints in
    brackets."""
    request = ChatRequest(
        language=language, model="alias", messages=[HI] if messages is None else messages, **members
    )
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, model, losses).body)
    return body, [f"({o.place})" if o.hint else o.place for o in losses.losses]


def test_the_model_is_called_as_the_target_knows_it_and_gets_a_limit() -> None:
    body, _ = write("claude-opus-4-1")
    assert body == {
        "model": "claude-opus-4-1",
        "max_tokens": 32_000,
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_a_limit_of_the_caller_counts() -> None:
    assert write(max_tokens=7)[0]["max_tokens"] == 7


@each(
    ("model", "thinking", "written", "lost"),
    [
        (NEW, Thinking(effort="low"), {"thinking": {"type": "adaptive"}, "effort": "low"}, []),
        (NEW, Thinking(effort="minimal"), {"thinking": {"type": "adaptive"}, "effort": "low"}, []),
        (NEW, Thinking(budget=9000), {"thinking": {"type": "adaptive"}, "effort": "high"}, []),
        (NEW, Thinking(adaptive=True), {"thinking": {"type": "adaptive"}}, []),
        (
            NEW,
            Thinking(effort="max", visible=True),
            {"thinking": {"type": "adaptive", "display": "summarized"}, "effort": "max"},
            [],
        ),
        (NEW, Thinking(off=True), {"thinking": {"type": "disabled"}}, []),
        (NEW, Thinking(effort="none"), {"thinking": {"type": "disabled"}}, []),
        (ALWAYS, Thinking(off=True), {"effort": "low"}, []),
        (
            "claude-opus-4-6",
            Thinking(budget=9000),
            {"thinking": {"type": "enabled", "budget_tokens": 9000}},
            [],
        ),
        (
            "claude-opus-4-6",
            Thinking(effort="xhigh"),
            {"thinking": {"type": "adaptive"}, "effort": "high"},
            [],
        ),
        (
            OLD,
            Thinking(effort="medium", visible=True),
            {"thinking": {"type": "enabled", "budget_tokens": 4096}},
            [],
        ),
        (
            OLD,
            Thinking(budget=512, visible=False),
            {"thinking": {"type": "enabled", "budget_tokens": 1024, "display": "omitted"}},
            [],
        ),
        (
            OLD,
            Thinking(adaptive=True),
            {"thinking": {"type": "enabled", "budget_tokens": 8192}},
            [],
        ),
        (OLD, Thinking(off=True), {"thinking": {"type": "disabled"}}, []),
        ("claude-3-5-haiku-latest", Thinking(effort="low"), {}, ["(thinking)"]),
        ("claude-3-5-haiku-latest", Thinking(off=True), {}, []),
    ],
)
def test_thinking(model: str, thinking: Thinking, written: dict[str, Any], lost: list[str]) -> None:
    body, losses = write(model, thinking=thinking)
    effort = body.get("output_config", {})
    assert {k: v for k, v in {**body, **effort}.items() if k in ("thinking", "effort")} == written
    assert losses == lost


@each(
    "model",
    [OLD, NEW, ALWAYS, "claude-opus-4-6", "claude-sonnet-4-6", "claude-3-5-haiku-latest", "kimi"],
)
def test_every_wish_to_think_is_one_of_the_sdk(model: str) -> None:
    efforts = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "unheard-of")
    wishes = [Thinking(effort=effort, visible=True) for effort in efforts]
    wishes += [Thinking(budget=budget) for budget in (0, 1024, 9000, 200_000)]
    for thinking in [*wishes, Thinking(off=True), Thinking(adaptive=True, visible=False)]:
        body, _ = write(model, thinking=thinking)
        CONFIG.validate_python(body.get("thinking", {"type": "disabled"}), strict=True)
        OUTPUT.validate_python(body.get("output_config", {}), strict=True)
        budget = body.get("thinking", {}).get("budget_tokens", 1024)
        assert 1024 <= budget < body["max_tokens"]


@each(
    ("max_tokens", "thinking", "budget"),
    [
        (4000, Thinking(effort="high"), 2000),
        (1500, Thinking(effort="high"), 1024),
        (1024, Thinking(effort="high"), None),
        (4000, Thinking(budget=9000), 3999),
        (1025, Thinking(budget=9000), 1024),
        (1024, Thinking(budget=9000), None),
    ],
)
def test_a_budget_leaves_tokens_to_the_answer(
    max_tokens: int, thinking: Thinking, budget: int | None
) -> None:
    body, lost = write(OLD, max_tokens=max_tokens, thinking=thinking)
    assert body.get("thinking", {}).get("budget_tokens") == budget
    assert lost == ([] if budget else ["(thinking)"])


@each(
    ("model", "members", "written", "lost"),
    [
        ("m", {"temperature": "0.70", "top_p": "0.90", "top_k": "40"}, SAMPLING, []),
        (OLD, {"temperature": "0.70", "top_p": "0.90"}, ["temperature"], ["top_p"]),
        (OLD, {"temperature": "1", "top_p": "0.90"}, ["top_p"], []),
        (OLD, {"temperature": "0.5", "top_p": "1.0"}, ["temperature"], []),
        (NEW, {"temperature": "0", "top_p": "0.5", "top_k": "4"}, [], SAMPLING),
        (NEW, {"temperature": "1.0", "top_p": "1"}, [], []),
        (OLD, {"temperature": "0.5", "thinking": Thinking(effort="low")}, [], ["temperature"]),
        (OLD, {"top_p": "0.97", "thinking": Thinking(effort="low")}, ["top_p"], []),
        (OLD, {"top_p": "0.9", "thinking": Thinking(effort="low")}, [], ["top_p"]),
        (OLD, {"temperature": "0.5", "thinking": Thinking(off=True)}, ["temperature"], []),
    ],
)
def test_sampling(model: str, members: dict[str, Any], written: list[str], lost: list[str]) -> None:
    values = {k: Raw(v.encode()) if isinstance(v, str) else v for k, v in members.items()}
    body, losses = write(model, **values)
    assert [name for name in SAMPLING if name in body] == written
    assert losses == lost


def test_numbers_keep_their_text() -> None:
    request = ChatRequest(
        language="other", model="a", messages=[HI], temperature=Raw(b"0.70"), top_p=Raw(b"0.90")
    )
    body = write_request(request, "m", Losses(Patterns(()))).body
    assert b'"temperature":0.70,"top_p":0.90' in body


def test_top_k_is_a_whole_number() -> None:
    body = write_request(
        ChatRequest(language="other", model="a", messages=[HI], top_k=Raw(b"40.0")),
        "m",
        Losses(Patterns(())),
    ).body
    assert b'"top_k":40}' in body


def test_a_temperature_above_one_is_one_and_a_loss() -> None:
    body, lost = write(OLD, temperature=Raw(b"1.5"))
    assert (body["temperature"], lost) == (1, ["temperature"])


def test_a_temperature_that_is_no_number_is_named_as_the_caller_wrote_it() -> None:
    with pytest.raises(WrongType, match=r"'config\.t' must be a number"):
        write(OLD, temperature=Raw(b'"hot"'), places={"temperature": "config.t"})


@each(
    ("members", "lost"),
    [
        ({"candidates": 2}, ["candidates"]),
        ({"candidates": 1}, []),
        ({"seed": Raw(b"7")}, ["seed"]),
        ({"logprobs": True, "places": {"logprobs": "lp"}}, ["lp"]),
        ({"presence_penalty": Raw(b"0.5")}, ["presence_penalty"]),
        ({"frequency_penalty": Raw(b"0.0")}, []),
        ({"verbosity": "low"}, ["verbosity"]),
        ({"verbosity": "medium"}, []),
        ({"stop": ["\n", "END"]}, ["stop"]),
    ],
)
def test_what_the_vendor_has_no_parameter_for_is_lost(
    members: dict[str, Any], lost: list[str]
) -> None:
    assert write(**members)[1] == lost


def test_stop_sequences_of_white_space_are_left_out() -> None:
    assert write(stop=["\n", "END"])[0]["stop_sequences"] == ["END"]


SCHEMA = OutputFormat(kind="json_schema", schema=Raw(b'{"type":"object"}'), name="n")


@each(
    ("model", "output", "lost"),
    [
        (OLD, SCHEMA, []),
        ("claude-opus-4-1", SCHEMA, ["output"]),
        (OLD, OutputFormat(kind="json"), ["output"]),
    ],
)
def test_output_format(model: str, output: OutputFormat, lost: list[str]) -> None:
    body, losses = write(model, output=output)
    schema = {"type": "json_schema", "schema": {"type": "object"}}
    assert body.get("output_config") == (None if lost else {"format": schema})
    assert losses == lost


@each(
    ("user", "kept"),
    [
        ("user-1_A", True),
        ("anna@example.com", False),
        ("+47 12345678", False),
        ("4712345678", False),
        ("a" * 257, False),
    ],
)
def test_a_user_is_not_named_by_mail_or_telephone(user: str, kept: bool) -> None:
    user_id = write(user=user)[0]["metadata"]["user_id"]
    assert (user_id == user) is kept
    assert len(user_id) <= 256


# Tools


def test_tools() -> None:
    schema = Raw(b'{"properties":{"b":{"default":1.0}},"required":["b"]}')
    body, _ = write(tools=[Tool(name="look", description="d", schema=schema, strict=True), TIME])
    assert body["tools"] == [
        {
            "name": "look",
            "description": "d",
            "input_schema": {
                "type": "object",
                "properties": {"b": {"default": 1.0}},
                "required": ["b"],
            },
            "strict": True,
        },
        {"name": "time", "input_schema": {"type": "object", "properties": {}}},
    ]


def test_a_model_that_checks_no_arguments_is_not_asked_to() -> None:
    body, lost = write("claude-opus-4-1", tools=[Tool(name="a", strict=True, place="tools[0]")])
    assert "strict" not in body["tools"][0]
    assert lost == ["(tools[0].strict)"]


def test_a_schema_that_is_no_object_is_named() -> None:
    with pytest.raises(WrongType, match=r"'tools\[0\]'"):
        write(tools=[Tool(name="a", schema=Raw(b"[]"), place="tools[0]")])


@each(
    ("choice", "parallel", "written", "tools"),
    [
        (None, None, None, ["look", "time"]),
        (None, True, None, ["look", "time"]),
        (None, False, {"type": "auto", **ALONE}, ["look", "time"]),
        (ToolChoice("auto"), None, {"type": "auto"}, ["look", "time"]),
        (ToolChoice("none"), False, {"type": "none"}, ["look", "time"]),
        (ToolChoice("any"), False, {"type": "any", **ALONE}, ["look", "time"]),
        (ToolChoice("any", ("look",)), None, {"type": "tool", "name": "look"}, ["look", "time"]),
        (ToolChoice("any", ("look", "time")), None, {"type": "any"}, ["look", "time"]),
        (ToolChoice("auto", ("time",)), None, {"type": "auto"}, ["time"]),
    ],
)
def test_tool_choice(
    choice: ToolChoice | None, parallel: bool | None, written: Any, tools: list[str]
) -> None:
    body, lost = write(tools=[LOOK, TIME], tool_choice=choice, parallel_calls=parallel)
    assert body.get("tool_choice") == written
    assert [tool["name"] for tool in body["tools"]] == tools
    assert lost == []


LOOK_NOW = {"tools": [LOOK], "tool_choice": ToolChoice("any", ("look",))}


@each(("model", "lost"), [(ALWAYS, ["tool_choice"]), ("claude-fable-5", []), (NEW, [])])
def test_a_call_cannot_be_demanded_of_some_models(model: str, lost: list[str]) -> None:
    body, losses = write(model, **LOOK_NOW)
    assert (body["tool_choice"]["type"], losses) == ("auto" if lost else "tool", lost)


@each(
    ("model", "thinking"),
    [(NEW, Thinking(effort="low")), (OLD, Thinking(budget=2000))],
)
def test_a_call_that_is_demanded_comes_without_thoughts(model: str, thinking: Thinking) -> None:
    body, lost = write(model, thinking=thinking, **LOOK_NOW)
    assert body["tool_choice"] == {"type": "tool", "name": "look"}
    assert "thinking" not in body
    assert lost == ["(thinking)"]


def test_a_choice_without_tools_is_left_out() -> None:
    body, lost = write(tool_choice=ToolChoice("auto"), parallel_calls=False)
    assert "tool_choice" not in body
    assert lost == []


CALLED = [
    HI,
    Message(role="assistant", blocks=[ToolCall(id="1", name="look")]),
    Message(role="user", blocks=[ToolResult(id="1")]),
]


def test_tools_that_were_called_are_declared_but_cannot_be_called_again() -> None:
    body, lost = write(messages=CALLED)
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert (body["tool_choice"], lost) == ({"type": "none"}, [])


def test_thoughts_on_a_budget_need_those_before_the_last_calls() -> None:
    body, lost = write(OLD, messages=CALLED, tools=[LOOK], thinking=Thinking(effort="low"))
    assert "thinking" not in body
    assert lost == ["(thinking)"]


@each("model", [OLD, NEW])
def test_thoughts_go_on_where_those_before_were_sent_back(model: str) -> None:
    thought = Reasoning(text="hm", signature=Signature("messages", "s"))
    messages = [HI, Message(role="assistant", blocks=[thought, *CALLED[1].blocks]), CALLED[2]]
    body, _ = write(model, messages=messages, tools=[LOOK], thinking=Thinking(effort="low"))
    assert body["thinking"]["type"] in ("enabled", "adaptive")


@each(("model", "messages"), [(NEW, CALLED), (OLD, [*CALLED, HI, CALLED[1], HI]), (OLD, [HI])])
def test_only_a_budget_in_a_round_of_calls_needs_earlier_thoughts(
    model: str, messages: list[Message]
) -> None:
    body, lost = write(model, messages=messages, tools=[LOOK], thinking=Thinking(effort="low"))
    assert "thinking" in body
    assert lost == []


def test_a_web_search_of_another_vendor_becomes_this_vendors() -> None:
    search = BuiltInTool(language="other", name="s", raw=Raw(b"{}"), kind="web_search")
    body, lost = write(tools=[search])
    assert body["tools"] == [{"type": "web_search_20250305", "name": "web_search"}]
    assert lost == []


def test_another_tool_that_another_vendor_runs_is_lost() -> None:
    tool = BuiltInTool(language="other", name="s", raw=Raw(b"{}"), place="tools[0]")
    body, lost = write(tools=[tool])
    assert "tools" not in body
    assert lost == ["tools[0]"]


def test_names_of_tools_are_shortened_everywhere_and_can_be_given_back() -> None:
    name = "mcp.server:" + "x" * 128
    request = ChatRequest(
        language="other",
        model="a",
        messages=[HI, Message(role="assistant", blocks=[ToolCall(id="1", name=name)])],
        tools=[Tool(name=name)],
        tool_choice=ToolChoice("any", (name,)),
    )
    written = write_request(request, "m", Losses(Patterns(())))
    body = json.loads(written.body)
    (short,) = written.tool_names
    assert written.tool_names[short] == name
    assert len(short) == 128
    call = body["messages"][1]["content"][0]
    assert [body["tools"][0]["name"], body["tool_choice"]["name"], call["name"]] == [short] * 3


def test_ids_of_calls_are_made_legal_alike_in_calls_and_results() -> None:
    call, result = ToolCall(id="a:b/1", name="f"), ToolResult(id="a:b/1")
    body, _ = write(
        messages=[
            HI,
            Message(role="assistant", blocks=[call]),
            Message(role="user", blocks=[result]),
        ]
    )
    call_id = body["messages"][1]["content"][0]["id"]
    assert call_id.replace("_", "").isalnum()
    assert body["messages"][2]["content"][0]["tool_use_id"] == call_id


def test_arguments_that_are_no_object_are_named() -> None:
    call = ToolCall(id="1", name="f", arguments="[1", place="messages[1].tool_calls[0]")
    with pytest.raises(WrongType, match=r"messages\[1\]\.tool_calls\[0\]"):
        write(messages=[HI, Message(role="assistant", blocks=[call]), HI])


def test_a_call_after_unsigned_thoughts_loses_only_the_thoughts() -> None:
    thought = Reasoning(text="hm", place="messages[1].content[0]")
    call = ToolCall(id="1", name="f", arguments='{"a": 1.0}')
    body, lost = write(messages=[HI, Message(role="assistant", blocks=[thought, call]), HI])
    assert body["messages"][1]["content"] == [
        {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1.0}}
    ]
    assert lost == ["(messages[1].content[0])"]

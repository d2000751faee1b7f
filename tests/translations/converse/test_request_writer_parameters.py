"""How much a model reasons, how it picks its words, and where it stops."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.content import Text, ToolCall, ToolResult
from engine.translations.neutral.request import OutputFormat, Thinking, Tool, ToolChoice
from tests.support.each import each
from tests.translations.converse.writing import (
    CLAUDE,
    CLAUDE_4_1,
    GPT_OSS,
    HI,
    LLAMA,
    NOVA,
    NOVA_2,
    assistant,
    user,
    written,
)

TOOL = Tool(name="f", schema=Raw(b'{"type":"object"}'))
OPUS_5 = "us.anthropic.claude-opus-4-7-v1"


def own(request: Any) -> Any:
    return request.body.get("additionalModelRequestFields")


def inference(request: Any) -> Any:
    return request.body.get("inferenceConfig")


def test_nothing_asked_is_nothing_written() -> None:
    assert set(written(CLAUDE).body) == {"messages"}


@each("model", [CLAUDE, NOVA, LLAMA])
def test_the_limit_and_sampling_keep_the_text_of_their_numbers(model: str) -> None:
    request = written(model, max_tokens=9, temperature=Raw(b"0.70"))
    assert request.request.body.endswith(b'"inferenceConfig":{"maxTokens":9,"temperature":0.70}}')


def test_a_limit_of_nothing_is_lost() -> None:
    assert list(written(NOVA, max_tokens=0).lost) == ["max_tokens"]


def test_temperatures_end_at_1() -> None:
    request = written(NOVA, temperature=Raw(b"1.5"))
    assert (inference(request), list(request.lost)) == ({"temperature": 1}, ["temperature"])


TOP_K = [
    (CLAUDE_4_1, {"top_k": 5}),
    (NOVA, {"inferenceConfig": {"topK": 5}}),
]


@each(("model", "fields"), TOP_K)
def test_top_k_is_a_field_of_the_vendors_own(model: str, fields: Any) -> None:
    assert own(written(model, top_k=Raw(b"5"))) == fields


def test_other_models_take_no_top_k() -> None:
    assert list(written(LLAMA, top_k=Raw(b"5")).lost) == ["top_k"]
    assert written(LLAMA, top_k=Raw(b"64")).hints == {"top_k"}


def test_stop_sequences_are_asked_for_by_name() -> None:
    request = written(CLAUDE, stop=["END"])
    assert inference(request) == {"stopSequences": ["END"]}
    assert request.body["additionalModelResponseFieldPaths"] == ["/stop_sequence"]
    assert "additionalModelResponseFieldPaths" not in written(NOVA, stop=["END"]).body


def test_a_budget_of_thoughts_is_below_the_limit() -> None:
    request = written(CLAUDE, thinking=Thinking(budget=2000), max_tokens=9000)
    assert own(request) == {"thinking": {"type": "enabled", "budget_tokens": 2000}}
    assert inference(request) == {"maxTokens": 9000}
    assert inference(written(CLAUDE, thinking=Thinking(budget=2000))) == {"maxTokens": 64_000}


def test_an_effort_is_a_field_of_the_answer() -> None:
    request = written(OPUS_5, thinking=Thinking(effort="low"))
    assert request.body["outputConfig"] == {"effort": "low"}
    assert own(request) == {"thinking": {"type": "adaptive"}}


def test_thoughts_that_are_off() -> None:
    assert own(written(CLAUDE, thinking=Thinking(off=True))) == {"thinking": {"type": "disabled"}}


CALLED = (
    HI,
    assistant(ToolCall(id="t", name="f")),
    user(ToolResult(id="t", content=[Text(text="x")])),
)


def test_no_thoughts_where_they_would_be_refused() -> None:
    thinking = Thinking(budget=2000)
    demanded = written(CLAUDE, thinking=thinking, tools=[TOOL], tool_choice=ToolChoice("any"))
    without = written(CLAUDE, *CALLED, thinking=thinking, tools=[TOOL])
    assert (own(demanded), own(without)) == (None, None)
    assert (list(demanded.lost), without.hints) == (["thinking"], {"thinking"})


def nova(effort: str) -> Any:
    return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}


EFFORTS = [
    (GPT_OSS, Thinking(effort="high"), {"reasoning_effort": "high"}),
    (GPT_OSS, Thinking(budget=2048), {"reasoning_effort": "low"}),
    (GPT_OSS, Thinking(off=True), {"reasoning_effort": "low"}),
    (
        NOVA_2,
        Thinking(effort="low"),
        {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}},
    ),
    (
        NOVA_2,
        Thinking(effort="max"),
        {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}},
    ),
    (NOVA_2, Thinking(off=True), None),
    (LLAMA, Thinking(off=True), None),
]


@each(("model", "thinking", "fields"), EFFORTS)
def test_other_models_reason_by_an_effort(model: str, thinking: Thinking, fields: Any) -> None:
    request = written(model, thinking=thinking)
    assert (own(request), request.hints) == (fields, set())


def test_a_model_that_cannot_be_told_how_much_to_reason() -> None:
    assert written(LLAMA, thinking=Thinking(effort="low")).hints == {"thinking"}


def test_a_schema_of_the_answer() -> None:
    closed = '{"type":"object","properties":{},"additionalProperties":false}'
    output = OutputFormat(kind="json_schema", schema=Raw(closed.encode()), name="n")
    request = written(CLAUDE, output=output)
    schema = {"schema": closed, "name": "n"}
    structure = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    assert request.body["outputConfig"] == {"textFormat": structure}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, {"type": "auto"}),
        (ToolChoice("any"), {"type": "any"}),
        (ToolChoice("any", ("f",)), {"type": "tool", "name": "f"}),
    ],
)
def test_one_call_at_a_time_is_a_field_of_anthropics_own(choice: Any, expected: Any) -> None:
    request = written(CLAUDE, tools=[TOOL], parallel_calls=False, tool_choice=choice)
    assert own(request) == {"tool_choice": {**expected, "disable_parallel_tool_use": True}}


def test_other_models_cannot_be_held_to_one_call() -> None:
    for model in (NOVA, CLAUDE_4_1):
        request = written(model, tools=[TOOL], parallel_calls=False)
        assert list(request.lost) == ["parallel_calls"]


UNSUPPORTED = [
    ("candidates", 2),
    ("logprobs", True),
    ("seed", Raw(b"1")),
    ("presence_penalty", Raw(b"0.5")),
    ("verbosity", "low"),
]


@each(("field", "value"), UNSUPPORTED)
def test_what_no_model_can_be_asked_is_lost(field: str, value: Any) -> None:
    assert list(written(NOVA, **{field: value}).lost) == [field]


def test_a_user_is_a_hint() -> None:
    assert written(NOVA, user="ann").hints == {"user"}

"""What is known of models."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import OutputConfigParam, ThinkingConfigParam
from msgspec import Raw
from pydantic import TypeAdapter

from engine.translations.messages.request_writer import write_request
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    ChatRequest,
    OutputFormat,
    Thinking,
)
from engine.translations.vendors.anthropic_models import model_called
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.messages.requests import (
    ALWAYS,
    HI,
    NEW,
    OLD,
    SAMPLING,
    write,
)


@each(
    ("name", "max_tokens", "thinking"),
    [
        ("claude-3-haiku-20240307", 4096, "never"),
        ("claude-3-5-sonnet-20241022", 8192, "never"),
        ("claude-3-7-sonnet-latest", 64_000, "budget"),
        ("claude-opus-4-20250514", 32_000, "budget"),
        ("anthropic.claude-opus-4-1-20250805-v1:0", 32_000, "budget"),
        ("claude-sonnet-4@20250514", 64_000, "budget"),
        ("claude-haiku-4-5-20251001", 64_000, "budget"),
        ("anthropic/claude-sonnet-4.6", 64_000, "both"),
        ("Claude-Opus-4-6", 128_000, "both"),
        ("claude-opus-4-8", 128_000, "adaptive"),
        ("claude-opus-5", 128_000, "adaptive"),
        ("claude-haiku-5-5", 64_000, "adaptive"),
        ("claude-opus-5-5", 128_000, "always"),
        ("claude-fable-5-2", 128_000, "always"),
        ("claude-unheard-of-9", 128_000, "adaptive"),
        ("kimi-k3", 8192, "budget"),
    ],
)
def test_models_are_known_by_their_names(name: str, max_tokens: int, thinking: str) -> None:
    model = model_called(name)
    assert (model.max_tokens, model.thinking) == (max_tokens, thinking)


@each(
    ("name", "accepts"),
    [
        ("claude-opus-4-7", False),
        ("claude-opus-4-8", True),
        ("claude-sonnet-5-5", True),
        ("claude-mythos-preview", False),
    ],
)
def test_newer_models_take_instructions_between_turns(name: str, accepts: bool) -> None:
    assert model_called(name).system_turns is accepts


CONFIG: TypeAdapter[Any] = TypeAdapter(ThinkingConfigParam)
OUTPUT: TypeAdapter[Any] = TypeAdapter(OutputConfigParam)


@each(
    ("model", "thinking", "expected", "expected_losses"),
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
def test_thinking(
    model: str, thinking: Thinking, expected: dict[str, Any], expected_losses: list[str]
) -> None:
    body, losses = write(model, thinking=thinking)
    effort = body.get("output_config", {})
    assert {k: v for k, v in {**body, **effort}.items() if k in ("thinking", "effort")} == expected
    assert losses == expected_losses


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
    body, expected_losses = write(OLD, max_tokens=max_tokens, thinking=thinking)
    assert body.get("thinking", {}).get("budget_tokens") == budget
    assert expected_losses == ([] if budget else ["(thinking)"])


@each(
    ("model", "members", "expected", "expected_losses"),
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
def test_sampling(
    model: str, members: dict[str, Any], expected: list[str], expected_losses: list[str]
) -> None:
    values = {k: Raw(v.encode()) if isinstance(v, str) else v for k, v in members.items()}
    body, losses = write(model, **values)
    assert [name for name in SAMPLING if name in body] == expected
    assert losses == expected_losses


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
    body, expected_losses = write(OLD, temperature=Raw(b"1.5"))
    assert (body["temperature"], expected_losses) == (1, ["temperature"])


def test_a_temperature_that_is_no_number_is_named_as_the_caller_wrote_it() -> None:
    with pytest.raises(WrongType, match=r"'config\.t' must be a number"):
        write(OLD, temperature=Raw(b'"hot"'), places={"temperature": "config.t"})


@each(
    ("members", "expected_losses"),
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
    members: dict[str, Any], expected_losses: list[str]
) -> None:
    assert write(**members)[1] == expected_losses


def test_stop_sequences_of_white_space_are_left_out() -> None:
    assert write(stop=["\n", "END"])[0]["stop_sequences"] == ["END"]


CLOSED = b'{"type":"object","properties":{},"additionalProperties":false}'
SCHEMA = OutputFormat(kind="json_schema", schema=Raw(CLOSED), name="n")


@each(
    ("model", "output", "expected_losses"),
    [
        (OLD, SCHEMA, []),
        (OLD, OutputFormat(kind="json"), ["output"]),
    ],
)
def test_output_format(model: str, output: OutputFormat, expected_losses: list[str]) -> None:
    body, losses = write(model, output=output)
    schema = {"type": "json_schema", "schema": json.loads(CLOSED)}
    assert body.get("output_config") == (None if expected_losses else {"format": schema})
    assert losses == expected_losses


@each(
    ("user", "is_carried"),
    [
        ("user-1_A", True),
        ("anna@example.com", False),
        ("+47 12345678", False),
        ("4712345678", False),
        ("a" * 257, False),
    ],
)
def test_a_user_is_not_named_by_mail_or_telephone(user: str, is_carried: bool) -> None:
    user_id = write(user=user)[0]["metadata"]["user_id"]
    assert (user_id == user) is is_carried
    assert len(user_id) <= 256


# Tools

"""What OpenAI's models accept."""

from __future__ import annotations

from engine.source import files
from engine.translations.neutral.parameters import NO_REASONING
from engine.translations.neutral.request import Thinking
from engine.translations.vendors.openai_models import (
    effort_with_tools,
    limit_field,
    most_stops,
    reasoning_effort,
    reasons,
    searches_in_chat,
    takes_penalties,
)
from tests.support import yaml_text
from tests.support.each import each

OFF = Thinking(effort="none", off=True)


@each(
    ("thinking", "model", "effort"),
    [
        (None, "gpt-5", None),
        (Thinking(effort="high"), "gpt-5", "high"),
        (Thinking(effort="minimal"), "gpt-5-mini", "minimal"),
        (Thinking(effort="minimal"), "gpt-5.1", "low"),
        (Thinking(effort="minimal"), "o3", "low"),
        (Thinking(effort="xhigh"), "gpt-5", "high"),
        (Thinking(effort="xhigh"), "gpt-5.1", "high"),
        (Thinking(effort="xhigh"), "gpt-5.1-codex-max", "xhigh"),
        (Thinking(effort="max"), "gpt-5.5", "xhigh"),
        (Thinking(effort="low"), "gpt-5-pro", "high"),
        (Thinking(effort="low"), "gpt-5.2-pro", "medium"),
        (Thinking(effort="hyper"), "qwen3", "hyper"),  # as its vendor knows it
        (Thinking(effort="max"), "gpt-6-sol", "max"),
        (Thinking(effort="minimal"), "gpt-5.6-luna", "low"),
        (Thinking(effort="low"), "gpt-5.2-chat-latest", "medium"),
        (Thinking(effort="max"), "gpt-5.1-codex", "high"),
        (Thinking(effort="max"), "deepseek-reasoner", "max"),
        (Thinking(budget=2048), "gpt-5", "low"),
        (Thinking(budget=100_000), "gpt-5.5", "xhigh"),
        (Thinking(budget=100_000), "qwen3", "high"),
        (Thinking(adaptive=True), "gpt-5", None),
        (OFF, "gpt-5", "minimal"),
        (OFF, "gpt-5.1", "none"),
        (OFF, "gpt-5.2-codex", "low"),
        (OFF, "gpt-6.2-astra", "low"),
        (OFF, "gpt-5.6-luna", "none"),
        (OFF, "o3", "low"),
        (OFF, "qwen3", None),
        (OFF, "gpt-4o", None),
    ],
)
def test_efforts(thinking: Thinking | None, model: str, effort: str | None) -> None:
    assert reasoning_effort(thinking, model) == (effort, "")


@each("model", ["gpt-4o", "gpt-3.5-turbo", "chatgpt-4o-latest", "gpt-5-chat-latest"])
def test_models_that_do_not_reason(model: str) -> None:
    assert reasoning_effort(Thinking(effort="low"), model) == (None, NO_REASONING)
    assert not reasons(model)


@each(
    "model",
    ["o1", "o4-mini", "gpt-5", "gpt-5.5", "gpt-6-luna", "gpt-daybreak-red-latest", "gpt-oss-120b"],
)
def test_models_that_reason(model: str) -> None:
    assert (reasons(model), limit_field(model)) == (True, "max_completion_tokens")


@each("model", ["gpt-4o", "qwen3"])
def test_other_models_get_the_older_limit(model: str) -> None:
    assert (reasons(model), limit_field(model)) == (False, "max_tokens")


@each(
    ("model", "searches"),
    [
        ("gpt-4o", False),
        ("gpt-5", False),
        ("gpt-4o-search-preview", True),
        ("gpt-5-search-api", True),
        ("grok-4", True),
    ],
)
def test_models_of_the_vendor_that_search_in_chat_are_named_for_it(
    model: str, searches: bool
) -> None:
    assert searches_in_chat(model) == searches


@each(
    ("model", "most"),
    [
        ("gpt-4o", 4),
        ("o3-mini", 4),
        ("o3", 0),
        ("o3-2025-04-16", 0),
        ("o3-mini-2025-01-31", 4),
        ("o4-mini", 0),
        ("o1-preview", 0),
        ("gpt-5", 0),
        ("gpt-5-2025-08-07", 0),
        ("gpt-5-mini", 0),
        ("gpt-5-nano-2025-08-07", 0),
        ("gpt-5.1", 0),
        ("gpt-5.2-2025-12-11", 0),
        ("gpt-5-chat-latest", 4),
        ("gpt-5.2-chat-latest", 4),
        ("gpt-5.5", 4),
        ("gpt-6-astra", 0),
        ("qwen3", None),
    ],
)
def test_stop_sequences(model: str, most: int | None) -> None:
    assert most_stops(model) == most


@each(
    "model,effort,expected",
    [
        ("gpt-5.4", "high", None),
        ("gpt-5.4-mini", "none", "none"),
        ("gpt-5.5", "low", "none"),
        ("gpt-5.6-terra", None, "none"),
        ("gpt-6-sol", "high", "none"),
        ("gpt-6-luna-2026-09-23", None, "none"),
        ("gpt-6-astra", "low", ""),
        ("gpt-6.1-sol", None, ""),
        ("gpt-5.4-chat-latest", "medium", "medium"),
        ("gpt-5.2", "high", "high"),
        ("qwen3", "high", "high"),
    ],
)
def test_the_effort_with_tools_in_chat(model: str, effort: str | None, expected: str) -> None:
    assert effort_with_tools(model, effort) == expected


@each(
    ("model", "takes"),
    [("gpt-4o", True), ("gpt-5", False), ("gpt-5.5", False), ("gpt-5-chat-latest", True)],
)
def test_penalties(model: str, takes: bool) -> None:
    assert takes_penalties(model) == takes


def test_an_effort_in_an_unknown_word_is_not_guessed() -> None:
    effort, reason = reasoning_effort(Thinking(effort="hyper"), "gpt-5.5")
    assert effort is None
    assert reason.startswith("'hyper' is not one of minimal, ")


def test_no_name_has_two_rows_of_a_table() -> None:
    file = yaml_text.load((files.PROVIDERS / "openai.yaml").read_text("utf-8"))
    for name, rows in file["parameters"].items():
        models = [model for row in rows for model in row["models"]]
        assert len(models) == len(set(models)), name

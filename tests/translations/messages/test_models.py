"""What is known of models."""

from __future__ import annotations

from engine.translations.messages.models import (
    Model,
    budget_of,
    effort_of,
    model_called,
    nearest_effort,
)
from tests.support.each import each


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


@each(
    ("budget", "effort"),
    [
        (0, "minimal"),
        (1024, "minimal"),
        (2048, "low"),
        (8191, "medium"),
        (8192, "high"),
        (99_999, "max"),
    ],
)
def test_a_budget_is_as_much_as_the_effort_that_it_is_enough_for(budget: int, effort: str) -> None:
    assert effort_of(budget) == effort


def test_an_effort_has_the_budget_that_comes_to_it() -> None:
    for effort in ("minimal", "low", "medium", "high", "xhigh", "max"):
        assert effort_of(budget_of(effort)) == effort


@each(
    ("effort", "nearest"),
    [("minimal", "low"), ("low", "low"), ("xhigh", "high"), ("max", "max"), ("odd", "medium")],
)
def test_a_model_gets_the_nearest_effort_that_it_has(effort: str, nearest: str) -> None:
    model = Model(max_tokens=1, efforts=("low", "medium", "high", "max"))
    assert nearest_effort(effort, model) == nearest

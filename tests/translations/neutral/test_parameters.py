"""Efforts, budgets, limits of tokens and values of sampling."""

from __future__ import annotations

import pytest
from msgspec import Raw

from engine.translations import language
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.parameters import (
    budget_of,
    effort_of,
    is_wide,
    nearest_effort,
    with_token_limit,
)
from engine.translations.neutral.request import ChatRequest
from engine.values.wildcard import Patterns
from tests.support.each import each


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
    [("minimal", "low"), ("low", "low"), ("xhigh", "high"), ("max", "max")],
)
def test_a_model_gets_the_nearest_effort_that_it_has(effort: str, nearest: str) -> None:
    assert nearest_effort(effort, ("low", "medium", "high", "max")) == nearest


@pytest.mark.parametrize(
    ("requested", "limit", "expected"),
    [(32_000, 16_384, 16_384), (16_384, 16_384, 16_384), (32_000, None, 32_000), (None, 9, None)],
)
def test_a_limit_is_lowered_to_what_the_model_can_write(
    requested: int | None, limit: int | None, expected: int | None
) -> None:
    losses = Losses(Patterns(()))
    places = {"max_tokens": "generationConfig.maxOutputTokens"}
    request = ChatRequest(language="a", model="m", messages=[], max_tokens=requested, places=places)
    assert with_token_limit(request, limit, losses).max_tokens == expected
    lowered = [(loss.place, loss.hint) for loss in losses.losses]
    assert lowered == (
        [] if requested == expected else [("generationConfig.maxOutputTokens", True)]
    )
    assert request.max_tokens == requested


@pytest.mark.parametrize(
    ("name", "model", "limit"),
    [
        ("chat_completions", "gpt-4o-mini", 16_384),
        ("chat_completions", "gpt-4o-2024-05-13", 4096),
        ("chat_completions", "gpt-4-0613", 8192),
        ("chat_completions", "o1-mini", 65_536),
        ("chat_completions", "gpt-5", 128_000),
        ("chat_completions", "mistral-large", None),
        ("responses", "gpt-4.1", 32_768),
        ("messages", "claude-3-5-sonnet-20241022", 8192),
        ("messages", "another-model", None),
        ("generate_content", "gemini-2.0-flash", 8192),
        ("generate_content", "gemini-2.5-pro", 65_536),
        ("generate_content", "gemma-3", None),
    ],
)
def test_models_are_known_by_their_names(name: str, model: str, limit: int | None) -> None:
    assert language(name).most_tokens(model) == limit


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("top_k", b"40"),
        ("top_k", b"64"),
        ("top_k", b"64.0"),
        ("top_k", b"0"),
        ("top_k", b"-1"),
        ("top_p", b"0.95"),
        ("top_p", b"1"),
    ],
)
def test_a_vendors_default_or_more_is_wide(name: str, text: bytes) -> None:
    assert is_wide(name, Raw(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("top_k", b"39"),
        ("top_p", b"0"),
        ("top_k", b'"64"'),
        ("top_k", b"true"),
        ("top_p", b"0.949"),
        ("top_p", b"{}"),
    ],
)
def test_anything_else_is_not(name: str, text: bytes) -> None:
    assert not is_wide(name, Raw(text))


def test_nothing_is_not_wide() -> None:
    assert not is_wide("top_k", None)

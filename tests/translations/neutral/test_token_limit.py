"""The most tokens that a model can answer with."""

from __future__ import annotations

import pytest

from engine.translations import language
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.token_limit import with_token_limit
from engine.values.wildcard import Patterns


@pytest.mark.parametrize(
    ("requested", "most", "written"),
    [(32_000, 16_384, 16_384), (16_384, 16_384, 16_384), (32_000, None, 32_000), (None, 9, None)],
)
def test_a_limit_is_lowered_to_what_the_model_can_write(
    requested: int | None, most: int | None, written: int | None
) -> None:
    losses = Losses(Patterns(()))
    places = {"max_tokens": "generationConfig.maxOutputTokens"}
    request = ChatRequest(language="a", model="m", messages=[], max_tokens=requested, places=places)
    assert with_token_limit(request, most, losses).max_tokens == written
    lowered = [(loss.place, loss.hint) for loss in losses.losses]
    assert lowered == ([] if requested == written else [("generationConfig.maxOutputTokens", True)])
    assert request.max_tokens == requested


@pytest.mark.parametrize(
    ("name", "model", "most"),
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
def test_models_are_known_by_their_names(name: str, model: str, most: int | None) -> None:
    assert language(name).most_tokens(model) == most

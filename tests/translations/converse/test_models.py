"""What Bedrock's models accept, by their names."""

from __future__ import annotations

import pytest

from engine.translations.converse.models import model_called, most_tokens
from tests.support.each import each

CLAUDES = [
    "anthropic.claude-3-5-sonnet-20241022-v2:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0",
]


@each("name", CLAUDES)
def test_anthropics_models_are_known_by_id_profile_and_arn(name: str) -> None:
    model = model_called(name)
    assert model.claude
    assert model.caches == {"tools", "system", "messages"}


@pytest.mark.parametrize(
    ("name", "thinking", "caches"),
    [
        ("amazon.nova-pro-v1:0", "", True),
        ("us.amazon.nova-2-lite-v1:0", "reasoningConfig", True),
        ("openai.gpt-oss-20b-1:0", "reasoning_effort", False),
        ("meta.llama3-3-70b-instruct-v1:0", "", False),
        ("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", "", False),
    ],
)
def test_models_of_other_vendors(name: str, thinking: str, caches: bool) -> None:
    model = model_called(name)
    assert (model.claude, model.thinking, bool(model.caches)) == (False, thinking, caches)


def test_the_most_tokens_are_known_of_anthropics_models_alone() -> None:
    assert most_tokens("eu.anthropic.claude-3-5-haiku-20241022-v1:0") == 8192
    assert most_tokens("amazon.nova-pro-v1:0") is None

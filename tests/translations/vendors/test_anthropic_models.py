"""What is known of models."""

from __future__ import annotations

from engine.translations.vendors.anthropic_models import model_called
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

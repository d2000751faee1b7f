"""What is known of models, held against models.dev's list of July 2026 (MODELWAY_SHARED)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.generate_content import models as gemini_models
from engine.translations.vendors import anthropic_models as claude_models
from engine.translations.vendors import openai_models
from tests.support.captures import SHARED

CATALOG = SHARED / "reference" / "providers" / "catalog.json"
Facts = dict[str, tuple[Any, ...]]

pytestmark = pytest.mark.skipif(not CATALOG.is_file(), reason=f"there is no {CATALOG}")

NOT_VERIFIED = {
    "gpt-5-chat-latest",
    "gpt-5.1",
    "gpt-5.2",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.4-nano",
}
"""Models of which the tables say something else, as their docstrings tell."""


def listed(vendor: str) -> dict[str, Any]:
    """A vendor's models that answer with text and have a limit."""
    models = json.loads(CATALOG.read_text())[vendor]["models"]
    return {
        name: model
        for name, model in models.items()
        if model["modalities"]["output"] == ["text"] and "embedding" not in name
    }


def test_openai() -> None:
    expected: Facts = {}
    known: Facts = {}
    for name, model in listed("openai").items():
        if name not in NOT_VERIFIED:
            expected[name] = model["limit"]["output"], model["reasoning"], model["temperature"]
            most, reasons = openai_models.most_tokens(name), openai_models.reasons(name)
            known[name] = most, reasons, openai_models.samples(name, None)
    assert known == expected
    assert len(known) > 30


def test_claude() -> None:
    expected: Facts = {}
    known: Facts = {}
    for name, model in listed("anthropic").items():
        expected[name] = model["limit"]["output"], model["reasoning"], model["temperature"]
        facts = claude_models.model_called(name)
        known[name] = facts.max_tokens, facts.thinking != "never", facts.sampling != "none"
    assert known == expected
    assert len(known) > 20


def test_gemini() -> None:
    expected: Facts = {}
    known: Facts = {}
    for name, model in listed("google").items():
        if name.startswith("gemini-") and "latest" not in name:
            expected[name] = model["limit"]["output"], model["reasoning"]
            facts = gemini_models.model_called(name)
            thinks = facts.budgets is not None or bool(facts.levels)
            known[name] = gemini_models.most_tokens(name), thinks
    assert known == expected
    assert len(known) > 8

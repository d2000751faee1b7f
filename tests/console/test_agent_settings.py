"""Settings of agents on the home page: filled in, escaped, and only where they work."""

from __future__ import annotations

from engine.console.agent_settings import agent_cards
from engine.console.chat_formats import routed_formats
from engine.plan.plan import Plan

MODELS = {"chat": "gpt-x", "responses": "gpt-x", "messages": "claude-x", "generate": "gemini-x"}


def test_each_agent_of_a_routed_format_has_a_card(shipped: Plan) -> None:
    cards = agent_cards(routed_formats(shipped), "https://gate.example", MODELS)
    assert cards.count("<details") == 16
    assert cards.index("Codex") < cards.index("OpenAI&#x27;s SDKs"), "agents come first"
    assert "export GEMINI_MODEL=gemini-x\n" in cards
    assert "export ANTHROPIC_AUTH_TOKEN=$MODELWAY_TOKEN\n" in cards
    assert "&quot;baseURL&quot;: &quot;https://gate.example/v1&quot;" in cards


def test_a_name_that_settings_cannot_have_is_left_out(shipped: Plan) -> None:
    cards = agent_cards(routed_formats(shipped), "https://gate.example", {**MODELS, "chat": 'a"b'})
    assert "<summary>Qwen Code</summary>" not in cards
    assert "<summary>Codex</summary>" in cards


def test_without_formats_there_are_none() -> None:
    assert agent_cards([], "https://gate.example", MODELS) == ""

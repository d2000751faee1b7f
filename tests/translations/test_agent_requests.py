"""What the vendors' agents send, translated to every other language (`tests/cases/agents/`)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations import language, target_language
from engine.translations.neutral.language import RequestLine
from engine.translations.translation import LossRules, Translation
from engine.values.errors import GatewayError
from tests.support.agent_model import tool_results
from tests.support.agent_requests import RECORDED, REQUESTS
from tests.support.agents import CLAUDE
from tests.support.sdk_types import check_request

BEDROCK = ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-opus-4-8")
TARGETS = [
    ("chat_completions", "gpt-4o"),
    ("chat_completions", "gpt-5"),
    ("responses", "gpt-5"),
    ("messages", "claude-sonnet-4-5"),
    ("messages", "claude-opus-4-8"),
    ("generate_content", "gemini-2.5-flash"),
    ("generate_content", "gemini-3-pro-preview"),
    *(("converse", model) for model in BEDROCK),
]

CROSSINGS = [
    pytest.param(file, target, model, id=f"{file}-{model}-{target}")
    for file, (agent, _) in RECORDED.items()
    for target, model in TARGETS
    if target != agent.language
]

REFUSED_PLACES = {
    (file, model): place
    for file, place in (("codex-any", "tools[8]"), ("codex-gpt", "tools[9]"))
    for model in ("gpt-4o", "gpt-5", "gemini-2.5-flash", *BEDROCK)
}
"""Codex declares a search of the web, which Gemini before 3 does not do beside functions, Bedrock
not at all, and OpenAI's models in responses."""


def translate(file: str, target: str, model: str) -> Any:
    agent, requested_model = RECORDED.get(file, (CLAUDE, "claude-opus-4-8"))
    body = (REQUESTS / f"{file}.json").read_bytes()
    line = RequestLine(model=requested_model, stream=True, id="req1", time=1_700_000_000)
    return Translation(language(agent.language), target_language(target)).request(
        body, line, model, LossRules()
    )


def tool_names(file: str) -> list[str]:
    """The names of the tools that the agent runs, as functions of another vendor's model."""
    document = json.loads((REQUESTS / f"{file}.json").read_bytes())
    names = []
    for tool in document["tools"]:
        group = f"{tool['name']}__" if tool.get("type") == "namespace" else ""
        inner = tool.get("functionDeclarations") or tool.get("tools") or [tool]
        names += [group + each["name"] for each in inner if "name" in each]
    return names


@pytest.mark.parametrize(("file", "target", "model"), CROSSINGS)
def test_an_agents_request_is_one_of_the_target(file: str, target: str, model: str) -> None:
    refused_place = REFUSED_PLACES.get((file, model))
    if refused_place:
        with pytest.raises(GatewayError) as excinfo:
            translate(file, target, model)
        assert (excinfo.value.status, excinfo.value.param) == (400, refused_place)
        return
    body = translate(file, target, model).target_request.body
    check_request(target, body)
    results = tool_results(json.loads(body))
    assert len(results) == 2
    assert "seven" in json.dumps(results[1])
    assert all(f'"{name}"' in body.decode() for name in tool_names(file))


@pytest.mark.parametrize(
    ("target", "model"), [each for each in TARGETS if each[0] != CLAUDE.language]
)
def test_the_request_for_a_title_has_its_schema(target: str, model: str) -> None:
    """Claude Code's request beside the task; it has to be recorded by hand."""
    exchange = translate("claude-title", target, model)
    check_request(target, exchange.target_request.body)
    body = exchange.target_request.body.replace(b"\\", b"")  # Bedrock gets the schema as a text
    assert b'"title":{"type":"string"}' in body

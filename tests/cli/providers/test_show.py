"""`modelway providers`: the list, one provider, and the list of the manual."""

import json

from engine.config import providers
from tests.support.commands import modelway
from tests.support.paths import ROOT


def test_every_provider_is_listed():
    result = modelway("providers")
    assert result.exit_code == 0
    names = [line.split()[0] for line in result.output.splitlines()]
    assert names == ["PROVIDER", *providers.names()]


def test_one_provider_is_shown_with_its_lines_and_models():
    output = modelway("providers", "groq").output
    assert '  groq: {provider: groq, credential: {bearer: "${GROQ_API_KEY}"}}\n' in output
    line = next(line for line in output.splitlines() if line.startswith("llama-3.3-70b"))
    assert line.split()[1:] == ["chat", "131,072", "32,768", "text", "tools", "0.59", "/", "0.79"]
    assert "https://models.dev, 2026-07-02" in output


def test_unverified_facts_are_printed():
    assert "not verified: " in modelway("providers", "cohere").output


def test_an_unknown_provider_is_wrong_usage():
    result = modelway("providers", "grok")
    assert result.exit_code == 2
    assert "unknown provider 'grok'; did you mean 'groq'?" in result.output


def test_all_facts_are_json():
    listed = json.loads(modelway("providers", "--format", "json").output)
    assert [provider["name"] for provider in listed] == list(providers.names())
    groq = json.loads(modelway("providers", "groq", "--format", "json").output)
    assert groq["credential"] == {"bearer": "GROQ_API_KEY"}
    assert groq["models"]["llama-3.3-70b-versatile"]["price"] == {"input": 0.59, "output": 0.79}


def test_the_list_of_the_manual_is_current():
    output = modelway("providers", "--format", "markdown").output
    page = (ROOT / "docs/reference/providers.md").read_text("utf-8")
    assert page == output, "modelway providers show --format markdown > docs/reference/providers.md"

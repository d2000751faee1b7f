"""Notes about what a provider is not known to have, and about old files."""

from datetime import date, timedelta

import pytest

from engine.config import providers
from engine.config.providers import MAX_AGE
from engine.plan.checks import providers as provider_checks
from engine.plan.checks.providers import check_providers
from engine.source.problem import Findings, Level
from tests.support.configs import read_config

DATE = providers.read("groq").date
UPSTREAMS = """\
upstreams:
  groq: {provider: groq, credential: {bearer: a}}
  azure: {provider: azure, variables: {resource: ours}, credential: {header: api-key, value: a}}
  own: {url: http://host}
"""


@pytest.fixture(autouse=True)
def _today(monkeypatch):
    monkeypatch.setattr(provider_checks, "today", lambda: DATE)


def notes(models):
    findings = Findings()
    check_providers(read_config(f"{UPSTREAMS}models: {models}\n"), findings)
    return [(p.code, p.line, p.column, p.message, p.hint) for p in findings.problems]


def test_a_model_that_is_not_known_is_noted_with_a_similar_one():
    model = "llama-3.1-8b-instan"
    (note,) = notes(f"{{x: {{to: [{{upstream: groq, model: {model}}}]}}}}")
    message = f"provider 'groq' had no model '{model}' on {DATE}"
    assert note == ("MW354", 8, 43, message, "did you mean 'llama-3.1-8b-instant'?")


UPSTREAM = "upstreams: {u: {provider: PROVIDER, credential: {bearer: k}}}\n"


@pytest.mark.parametrize(
    ("provider", "model", "level", "hint"),
    [
        ("openai", "gpt-4o-mni", Level.WARNING, "did you mean 'gpt-4o-mini'?"),
        ("openai", "openai/gpt-4o-mini", Level.WARNING, "did you mean 'gpt-4o-mini'?"),
        ("openai", "gpt-9.1-mini", Level.INFO, ""),
        ("openai", "claude-opus-99", Level.WARNING, "provider 'anthropic' has it"),
        ("openai", "zebra-1", Level.INFO, "if it is newer"),
        ("groq", "llama-9-instant", Level.INFO, ""),
    ],
)
def test_a_misspelt_model_and_one_of_another_vendor_are_warnings(provider, model, level, hint):
    findings = Findings()
    text = UPSTREAM.replace("PROVIDER", provider)
    text += f"models: {{x: {{to: [{{upstream: u, model: {model}}}]}}}}\n"
    check_providers(read_config(text), findings)
    [problem] = findings.problems
    assert (problem.code, problem.level) == ("MW354", level)
    assert hint in problem.hint


def test_a_model_without_a_similar_one_may_be_newer():
    (note,) = notes("{zzz: {to: [{upstream: groq}]}}")
    assert note[1:3] == (8, 21)
    assert note[4] == "if it is newer, ignore this: it is served"


@pytest.mark.parametrize(
    "models",
    [
        "{llama-3.1-8b-instant: {to: [{upstream: groq}]}}",
        "{x: {to: [{upstream: groq, model: llama-3.1-8b-instant}]}}",
        "{'*': {to: [{upstream: groq}]}}",
        "{'groq/*': {to: [{upstream: groq, model: '*'}]}}",
        "{mine: {to: [{upstream: azure}, {upstream: own}]}}",
    ],
)
def test_known_models_wildcards_and_names_of_the_operator_are_not_noted(models):
    assert notes(models) == []


def test_an_old_file_is_noted(monkeypatch):
    monkeypatch.setattr(provider_checks, "today", lambda: DATE + timedelta(days=MAX_AGE))
    assert notes("{'*': {to: [{upstream: groq}]}}") == []
    monkeypatch.setattr(provider_checks, "today", lambda: DATE + timedelta(days=MAX_AGE + 1))
    (note,) = notes("{'*': {to: [{upstream: groq}]}}")
    assert note[:2] == ("MW355", 5)
    assert note[3] == "the models and prices of provider 'groq' are 121 days old"


def test_today_is_a_date():
    assert isinstance(provider_checks.today(), date)

"""What requests in OpenAI's two languages have in common."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations import translation
from engine.translations.neutral.content import (
    Inline,
)
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import ChatRequest
from engine.translations.translation import Translation
from engine.translations.vendors.openai_request_fields import (
    SHARED_MEMBERS,
    write_sampling,
    write_verbosity,
)
from engine.values.wildcard import Patterns
from tests.support.each import each

PNG = Inline("image/png", "iVBO")


def write(model: str, effort: str | None = None, **members: Any) -> tuple[dict[str, bytes], Losses]:
    losses = Losses(Patterns(()))
    values = {name: Raw(value) for name, value in members.items()}
    request = ChatRequest(language="generate_content", model="m", messages=[], **values)
    written_members = write_sampling(request, model, effort, losses)
    return {name: bytes(value) for name, value in written_members.items()}, losses


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-4o", None),
        ("gpt-5-chat-latest", None),
        ("gpt-5.1", "none"),
        ("gpt-5.1", None),
        ("gpt-5.5", "none"),
        ("mistral-large", "high"),
    ],
)
def test_a_model_that_does_not_reason_takes_both(model: str, effort: str | None) -> None:
    members, losses = write(model, effort, temperature=b"0.70", top_p=b"0.9")
    assert members == {"temperature": b"0.70", "top_p": b"0.9"}
    assert not losses.losses


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-5", None),
        ("o3", "low"),
        ("gpt-5.1", "low"),
        ("gpt-5.5", None),
        ("gpt-5.2-pro", None),
        ("gpt-5.2-codex", None),
        ("gpt-6-sol", None),
    ],
)
def test_a_model_that_reasons_takes_none(model: str, effort: str | None) -> None:
    members, losses = write(model, effort, temperature=b"0.7", top_p=b"0.5")
    assert members == {}
    assert [(loss.place, loss.hint) for loss in losses.losses] == [
        ("temperature", False),
        ("top_p", False),
    ]


def test_what_happens_without_a_parameter_is_no_loss() -> None:
    members, losses = write("gpt-5", temperature=b"1", top_p=b"1.0")
    assert (members, losses.losses) == ({}, [])


def test_vendors_defaults_are_hints() -> None:
    _, losses = write("gpt-5", top_p=b"0.95", top_k=b"64")
    assert [(loss.place, loss.hint) for loss in losses.losses] == [("top_p", True), ("top_k", True)]


def test_a_narrow_top_k_is_lost() -> None:
    _, losses = write("gpt-4o", top_k=b"5")
    assert [(loss.place, loss.hint) for loss in losses.losses] == [("top_k", False)]


@pytest.mark.parametrize(
    ("model", "verbosity", "expected", "is_loss"),
    [
        ("gpt-5", "low", "low", False),
        ("gpt-4o", "low", None, True),
        ("gpt-4o", "medium", None, False),
        ("o3", "high", None, True),
        ("gpt-5", "", None, False),
    ],
)
def test_older_models_have_one_verbosity(
    model: str, verbosity: str, expected: str | None, is_loss: bool
) -> None:
    losses = Losses(Patterns(()))
    request = ChatRequest(language="responses", model="m", messages=[], verbosity=verbosity)
    assert write_verbosity(request, model, losses) == expected
    assert bool(losses.losses) == is_loss


SHARED = {
    "metadata": {"team": "x"},
    "service_tier": "flex",
    "safety_identifier": "s",
    "prompt_cache_key": "k",
    "prompt_cache_retention": "24h",
    "prompt_cache_options": {"mode": "explicit"},
}
LEAST = {
    "chat_completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "responses": {"input": "Hi"},
}


def shared(caller: str, target: str, model: str) -> tuple[dict[str, Any], list[str]]:
    body = json.dumps({"model": "m", **LEAST[caller], **SHARED}).encode()
    pair = translation(caller, target)
    assert isinstance(pair, Translation)
    exchange = pair.request(body, RequestLine(model="m"), model, LossRules())
    sent = json.loads(exchange.target_request.body)
    return {name: sent[name] for name in SHARED if name in sent}, exchange.dropped


@each(
    ("caller", "target", "model"),
    [
        ("chat_completions", "responses", "gpt-5"),
        ("chat_completions", "responses", "up"),
        ("responses", "chat_completions", "gpt-4o"),
        ("responses", "chat_completions", "openai/gpt-5"),
        ("responses", "chat_completions", "o3"),
    ],
)
def test_the_vendors_two_apis_pass_each_other_what_both_have(
    caller: str, target: str, model: str
) -> None:
    assert set(SHARED) == set(SHARED_MEMBERS)
    assert shared(caller, target, model) == (SHARED, [])


@each(
    ("caller", "target", "model"),
    [
        ("responses", "chat_completions", "gemini-2.5-flash"),
        ("responses", "messages", "claude-sonnet-4-5"),
        ("chat_completions", "generate_content", "gemini-2.5-flash"),
    ],
)
def test_other_vendors_do_not_get_it(caller: str, target: str, model: str) -> None:
    sent, dropped = shared(caller, target, model)
    assert sent == {}
    assert set(dropped) == set(SHARED)

"""Efforts, budgets, limits of tokens and values of sampling."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from msgspec import Raw

from engine.translations import language
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.parameters import (
    WebSearch,
    budget_of,
    effort_of,
    is_wide,
    nearest_effort,
    read_web_search,
    with_token_limit,
)
from engine.translations.neutral.request import BuiltInTool, ChatRequest
from engine.translations.translation import LossRules, Translation
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


OSLO = {"city": "Oslo", "country": "NO"}
CHAT = {"user_location": {"type": "approximate", "approximate": OSLO}, "search_context_size": "low"}
TOOL = {"user_location": {"type": "approximate", **OSLO}}


def read(options: object) -> WebSearch:
    raw = Raw(json.dumps(options).encode())
    return read_web_search(BuiltInTool(name="web_search", raw=raw, place="tools[0]"))


@each(
    ("options", "search"),
    [
        ({}, WebSearch()),
        (CHAT, WebSearch(location=OSLO, context_size="low")),
        (TOOL, WebSearch(location=OSLO)),
        ({"allowed_domains": ["a.org"]}, WebSearch(allowed_domains=["a.org"])),
        ({"blocked_domains": ["a.org"]}, WebSearch(blocked_domains=["a.org"])),
        ({"filters": {"allowed_domains": ["a.org"]}}, WebSearch(allowed_domains=["a.org"])),
        ({"filters": {"allowed_domains": ["a.org"], "since": 1}}, WebSearch()),
        ({"filters": None, "user_location": None}, WebSearch()),
    ],
)
def test_options_are_read_from_every_vendors_words(options: object, search: WebSearch) -> None:
    assert read(options) == search


def test_options_of_another_type_are_refused_by_place() -> None:
    with pytest.raises(WrongType, match=r"tools\[0\]"):
        read({"allowed_domains": 7})


def test_only_what_is_carried_is_no_loss_any_more() -> None:
    losses = Losses(Patterns(()))
    for name in ("user_location", "search_context_size"):
        losses.add(f"tools[0].{name}")
    assert read(CHAT).carry(losses, "location", "allowed_domains") == {"location": OSLO}
    assert losses.fields() == ["tools.search_context_size"]


REQUESTS: dict[str, dict[str, Any]] = {
    "chat_completions": {
        "messages": [{"role": "user", "content": "Hi"}],
        "web_search_options": {"user_location": CHAT["user_location"]},
    },
    "responses": {"input": "Hi", "store": False, "tools": [{"type": "web_search", **TOOL}]},
    "messages": {
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "web_search_20250305", "name": "web_search", **TOOL}],
    },
}


@pytest.mark.parametrize(("source", "target"), list(permutations(REQUESTS, 2)))
def test_a_location_is_carried_to_every_vendor_that_has_one(source: str, target: str) -> None:
    body = json.dumps({"model": "m", **REQUESTS[source]}).encode()
    translation = Translation(language(source), language(target))
    exchange = translation.request(body, RequestLine(), "m", LossRules())
    target_body = json.loads(exchange.target_request.body)
    for member in ("tools", "web_search_options"):
        assert target_body.get(member) == REQUESTS[target].get(member)
    assert exchange.dropped == []

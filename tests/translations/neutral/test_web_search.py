"""Options of searches of the web."""

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
from engine.translations.neutral.parameters import WebSearch, read_web_search
from engine.translations.neutral.request import BuiltInTool
from engine.translations.translation import LossRules, Translation
from engine.values.wildcard import Patterns
from tests.support.each import each

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

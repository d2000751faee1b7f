"""The look at the names in a body, before it is searched for choices."""

from __future__ import annotations

import json
from typing import Any

from engine.config.providers import CallerChoice
from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.spec.expression import parse
from engine.upstream.models.choice_search import MemberSearch, may_choose
from tests.support.each import each
from tests.support.exchanges import new_exchange


def exchange(body: bytes) -> Exchange:
    return new_exchange(body=Body(body), value=json.loads(body))


class CountedText(bytes):
    """A text that counts how often it is searched."""

    searches = 0

    def rfind(self, *arguments: Any) -> int:
        CountedText.searches += 1
        return super().rfind(*arguments)


def choices(*members: str) -> tuple[CallerChoice, ...]:
    url, date = "https://v.example", "2026-01-01"
    return tuple(CallerChoice("model", url, date, member) for member in members)


BODIES = (
    ("body", "found"),
    [
        (b'{"model": "a"}', False),
        (b'{"model": "a", "tools": []}', False),
        (b'{"model": "a", "tools": [{"name": "f"}]}', False),
        (b'{"tools": [{"model": "b"}]}', True),
        (b'{"model": "a", "tools": [{"model": "b"}]}', True),
        (b'{"tools": [{"model": "b"}], "model": "a"}', True),
        (b'{"model": "a", "tools": [{"m\\u006fdel": "b"}]}', True),
        (b'{"model": "a", "tools": [{"model" : "b"}]}', True),
        (b'{"tools": [], "contents": [{"role": "model"}, {"role": "model"}]}', False),
        (b'{"model": "model", "tools": [{"name": "model"}, "model"]}', False),
        (b'{"model": "a", "tools": [{"name": "\\u0416"}]}', False),
        (b'{"model": "a", "tools": [{"name": "\\u0007 \\u0041"}]}', True),
        (b'{"model": null, "tools": [{"name": "f"}]}', False),
        (b'{"model": null, "tools": [{"model": "b"}]}', True),
        (b'\n{"tools": [{"name": "f"}], "model" : "a"}', False),
    ],
)


@each(*BODIES)
def test_a_member_in_a_tool_is_searched_for_by_its_name(body: bytes, found: bool) -> None:
    search = MemberSearch(("tools", "*", "model"))
    assert search.may_find(exchange(body), json.loads(body)) is found


@each(*BODIES)
def test_the_search_for_the_model_changes_no_answer(body: bytes, found: bool) -> None:
    request = exchange(body)
    parse("$request.body#/model").check(request)
    search = MemberSearch(("tools", "*", "model"))
    assert search.may_find(request, json.loads(body)) is found


def test_a_text_that_was_searched_for_the_model_is_not_searched_again() -> None:
    body = b'{"model": "a", "tools": [{"name": "f"}]}'
    request = new_exchange(body=Body(CountedText(body)), value=json.loads(body))
    CountedText.searches = 0
    parse("$request.body#/model").check(request)
    searches = CountedText.searches
    assert searches > 0
    assert not MemberSearch(("tools", "*", "model")).may_find(request, json.loads(body))
    assert CountedText.searches == searches
    request.body = request.body.with_edits((0, 0, b" "))  # another text
    assert request.body.only_name == b""


def test_a_member_at_the_top_is_found_by_its_name_alone() -> None:
    search = MemberSearch(("provider",))
    assert search.may_find(exchange(b'{"provider":1}'), {"provider": 1})
    assert not search.may_find(exchange(b'{"a":"provider"}'), {"a": "provider"})


@each(
    ("body", "may"),
    [
        (b'{"model": "a", "tools": [{"name": "f"}]}', False),
        (b'{"model": "a", "provider": null}', True),
        (b'{"model": "a", "tools": [{"model": "b"}]}', True),
        (b'["model"]', True),
    ],
)
def test_a_request_may_choose_with_any_of_the_members(body: bytes, may: bool) -> None:
    asks = may_choose(choices("provider", "/tools/*/model"))
    assert asks(exchange(body)) is may

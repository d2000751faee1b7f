"""The look at the names in a body, before it is searched for choices."""

from __future__ import annotations

import json

from engine.config.providers import CallerChoice
from engine.exchange.body import Body
from engine.exchange.exchange import Exchange
from engine.upstream.choice_search import MemberSearch, may_choose
from tests.support.each import each
from tests.support.exchanges import new_exchange


def exchange(body: bytes) -> Exchange:
    return new_exchange(body=Body(body), value=json.loads(body))


def choices(*members: str) -> tuple[CallerChoice, ...]:
    url, date = "https://v.example", "2026-01-01"
    return tuple(CallerChoice("model", url, date, member) for member in members)


@each(
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
    ],
)
def test_a_member_in_a_tool_is_searched_for_by_its_name(body: bytes, found: bool) -> None:
    search = MemberSearch(("tools", "*", "model"))
    assert search.may_find(exchange(body), json.loads(body)) is found


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

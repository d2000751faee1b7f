"""Whether a request may choose more than its model, by a look at the names in its body.

Nearly every request chooses nothing, and a body with tools is large: it is walked
(`caller_choices`) only where the names in it leave open whether it makes a choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from engine.config.providers import CallerChoice
from engine.exchange.exchange import Exchange
from engine.values.json_spans import has_escaped_ascii


class MemberSearch:
    """Looks for the member of a choice: `first` is the member of the body on the way to it, `last`
    its name, `quoted` the name as it stands in a text; b"" if `first` is the whole way, or any
    member may be meant."""

    __slots__ = ("_members", "first", "last", "quoted")

    def __init__(self, steps: Sequence[str]) -> None:
        self.first, self.last = steps[0], steps[-1]
        nested = len(steps) > 1 and self.last != "*"
        self.quoted = b'"%b"' % self.last.encode() if nested else b""
        self._members = re.compile(re.escape(self.quoted) + rb"\s*+:").findall

    def may_find(self, exchange: Exchange, body: dict[str, Any]) -> bool:
        """Whether the body can have the member."""
        if self.first not in body:
            return False
        if not (quoted := self.quoted):
            return True
        if quoted == exchange.body.only_name:
            return False
        text = exchange.body.buffer
        is_at_the_top = self.last in body
        if text.rfind(quoted) >= 0 and len(self._members(text)) > is_at_the_top:  # not only values
            return True
        return has_escaped_ascii(text)


@cache
def search_of(choice: CallerChoice) -> MemberSearch:
    """The search for the member of a choice, shared by all models."""
    return MemberSearch(choice.steps)


def always(exchange: Exchange) -> bool:
    """For models whose name may be a choice: any request has to be checked."""
    return True


@cache
def may_choose(choices: tuple[CallerChoice, ...]) -> Callable[[Exchange], bool]:
    """A function that says whether a request may have one of the members of choices, shared by all
    models that have them."""
    searches = [search_of(choice) for choice in choices if choice.member]
    direct = frozenset(search.first for search in searches if not search.quoted)
    nested = [search.may_find for search in searches if search.quoted]

    def may_choose(exchange: Exchange) -> bool:
        body = exchange.content.value
        if not isinstance(body, dict) or not direct.isdisjoint(body):
            return True
        for may_find in nested:  # noqa: SIM110 - a generator would take twice the steps
            if may_find(exchange, body):
                return True
        return False

    return may_choose

"""The limits that requests alike are held against: found once, asked for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.allowance import Rule
from engine.estimate import expected
from engine.exchange import Account, Exchange
from engine.stores.counters import Asked, Limit, State
from engine.usage import Price
from engine.wildcard import ByName

_SHOWN = {
    kind: (
        f"x-ratelimit-limit-{kind}",
        f"x-ratelimit-remaining-{kind}",
        f"x-ratelimit-reset-{kind}",
    )
    for kind in ("requests", "tokens")
}
_COSTLY = ("tokens", "spend")
"""What is taken by its estimate, and corrected; of all else each request takes one."""


class Limits:
    """The limits `rules` of requests for which `whose` says, rule by rule, who shares it.

    `shown` are the names of the headers that tell of them.
    """

    def __init__(self, rules: Sequence[Rule], whose: Sequence[str]) -> None:
        self.rules = tuple(rules)
        self.asked = Asked(
            [
                Limit(f"{rule.name}|{who}", rule.allowance.amount, rule.allowance.window)
                for rule, who in zip(rules, whose, strict=True)
            ]
        )
        kinds = [rule.allowance.kind for rule in rules]
        self._tokens = [at for at, kind in enumerate(kinds) if kind == "tokens"]
        self._money = [at for at, kind in enumerate(kinds) if kind == "spend"]
        self._settled = not set(kinds).isdisjoint((*_COSTLY, "concurrency"))
        self._first = [0 if kind in _COSTLY else 1 for kind in kinds]
        self._last = [1 if kind == "requests" else 0 for kind in kinds]
        self._none = [0] * len(kinds)
        self._told = [
            (*names, [at for at, one in enumerate(kinds) if one == kind])
            for kind, names in _SHOWN.items()
            if kind in kinds
        ]
        self._amounts = [f"{limit.amount}" for limit in self.asked.limits]
        self._resets = [(-1.0, "")] * len(kinds)
        self.shown = frozenset(name for kind in kinds for name in _SHOWN.get(kind, ()))

    def costs(self, exchange: Exchange, prices: ByName[Price]) -> Sequence[int]:
        """What a request takes of each."""
        if not self._tokens and not self._money:
            return self._first
        usage = expected(exchange)
        costs = list(self._first)
        for at in self._tokens:
            costs[at] = usage.input + usage.output
        price = prices.find(exchange.account.model or exchange.model) if self._money else None
        if price is not None:
            for at in self._money:
                costs[at] = price.cost(usage)
        return costs

    def came_to(self, account: Account) -> Sequence[int] | None:
        """What it took in the end: nothing, when it never reached an upstream; None where that is
        what was taken, and nothing is held that is to be given back."""
        if account.status >= 400 and not account.reached:
            return self._none
        if not self._settled:
            return None
        costs = list(self._last)
        for at in self._tokens:
            costs[at] = account.usage.tokens
        for at in self._money:
            costs[at] = account.cost
        return costs

    def headers(self, states: Sequence[State]) -> list[tuple[str, str]]:
        """`x-ratelimit-*` as OpenAI names them: of each kind, the limit that is nearest."""
        found: list[tuple[str, str]] = []
        for limit, remaining, reset, among in self._told:
            at = among[0]
            if len(among) > 1:
                at = min(among, key=lambda at: states[at].remaining / self.asked.limits[at].amount)
            left, seconds, _ = states[at]
            said, text = self._resets[at]
            if seconds != said:
                self._resets[at] = seconds, (text := f"{seconds:.3f}s")
            found += (limit, self._amounts[at]), (remaining, f"{left}"), (reset, text)
        return found

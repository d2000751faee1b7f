"""The limits that requests alike are held against: found once, asked for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.allowance import Rule
from engine.estimate import expected
from engine.exchange import Account, Exchange
from engine.stores.counters import Limit, State, made
from engine.usage import Price
from engine.wildcard import ByName

_SHOWN = {
    kind: tuple(f"x-ratelimit-{what}-{kind}" for what in ("limit", "remaining", "reset"))
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
        self._limits = [
            Limit(
                f"{rule.name}|{who}",
                rule.allowance.amount,
                rule.allowance.window,
                0 if rule.allowance.kind in _COSTLY else 1,
            )
            for rule, who in zip(rules, whose, strict=True)
        ]
        kinds = [rule.allowance.kind for rule in rules]
        self._costly = tuple((at, kind) for at, kind in enumerate(kinds) if kind in _COSTLY)
        self._settled = not set(kinds).isdisjoint((*_COSTLY, "concurrency"))
        self._one, self._none = [limit.cost for limit in self._limits], [0] * len(kinds)
        self._told = [
            (names, [at for at, one in enumerate(kinds) if one == kind])
            for kind, names in _SHOWN.items()
            if kind in kinds
        ]
        self._amounts = [f"{limit.amount}" for limit in self._limits]
        self.shown = frozenset(name for names, _ in self._told for name in names)

    def of(self, exchange: Exchange, prices: ByName[Price]) -> Sequence[Limit]:
        """What a request takes of each."""
        if not self._costly:
            return self._limits
        usage = expected(exchange)
        limits = list(self._limits)
        for at, kind in self._costly:
            key, amount, window, cost = limits[at]
            if kind == "tokens":
                cost = usage.tokens
            elif (price := prices.find(exchange.account.model or exchange.model)) is not None:
                cost = price.cost(usage)
            limits[at] = made(Limit, (key, amount, window, cost))
        return limits

    def came_to(self, account: Account) -> Sequence[int] | None:
        """What it took in the end: nothing, when it never reached an upstream; None where that is
        what was taken, and nothing is held that is to be given back."""
        if account.status >= 400 and not account.reached:
            return self._none
        if not self._settled:
            return None
        costs = list(self._one)
        for at, kind in self._costly:
            costs[at] = account.cost if kind == "spend" else account.usage.tokens
        return costs

    def headers(self, states: Sequence[State]) -> list[tuple[str, str]]:
        """`x-ratelimit-*` as OpenAI names them: of each kind, the limit that is nearest."""
        found: list[tuple[str, str]] = []
        for (limit, remaining, reset), among in self._told:
            at = among[0]
            if len(among) > 1:
                at = min(among, key=lambda at: states[at].remaining / self._limits[at].amount)
            left, again, _ = states[at]
            found += (limit, self._amounts[at]), (remaining, f"{left}"), (reset, f"{again:.3f}s")
        return found

"""The limits that requests alike are held against: found once, asked for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.allowance import Rule
from engine.estimate import expected
from engine.exchange import Account, Exchange
from engine.stores.counters import Asked, Limit
from engine.usage import Price, Usage
from engine.wildcard import ByName

_SHOWN = {
    kind: (
        f"x-ratelimit-limit-{kind}",
        f"x-ratelimit-remaining-{kind}",
        f"x-ratelimit-reset-{kind}",
    )
    for kind in ("requests", "tokens")
}
_COSTLY = frozenset({"tokens", "spend"})
"""What is taken by its estimate, and corrected; of all else each request takes one."""


class Limits:
    """The limits `rules` of requests for which `whose` says, rule by rule, who shares it."""

    def __init__(self, rules: Sequence[Rule], whose: Sequence[str]) -> None:
        self.rules = tuple(rules)
        self.asked = Asked(
            [
                Limit(f"{rule.name}|{who}", rule.allowance.amount, rule.allowance.window)
                for rule, who in zip(rules, whose, strict=True)
            ]
        )
        self._kinds = kinds = [rule.allowance.kind for rule in rules]
        self._estimated = not _COSTLY.isdisjoint(kinds)
        self._settled = self._estimated or "concurrency" in kinds
        self._one, self._none = [1] * len(kinds), [0] * len(kinds)
        shown = [kind for kind in _SHOWN if kind in kinds]
        self._names = [_SHOWN[kind] for kind in shown]
        self._among = [[at for at, one in enumerate(kinds) if one == kind] for kind in shown]
        self._only = len(shown) == sum(map(len, self._among))
        self._nearest = [among[0] for among in self._among]
        self._resets: Sequence[float] = ()
        self._told: dict[str, str] = {}
        self._varies: list[tuple[str, int]] = []

    def costs(self, exchange: Exchange, prices: ByName[Price]) -> Sequence[int]:
        """What a request takes of each."""
        if not self._estimated:
            return self._one
        usage = expected(exchange)
        price = prices.find(exchange.account.model or exchange.model)
        return self._each(1, usage, 0 if price is None else price.cost(usage))

    def came_to(self, account: Account) -> Sequence[int] | None:
        """What it took in the end: nothing, when it never reached an upstream; None where that is
        what was taken, and nothing is held that is to be given back."""
        if account.status >= 400 and not account.reached:
            return self._none
        if not self._settled:
            return None
        return self._each(0, account.usage, account.cost)

    def _each(self, slots: int, usage: Usage, money: int) -> Sequence[int]:
        tokens = usage.input + usage.output
        took = {"requests": 1, "concurrency": slots, "tokens": tokens, "spend": money}
        return list(map(took.__getitem__, self._kinds))

    def headers(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        """`x-ratelimit-*` as OpenAI names them: of each kind, the limit that is nearest."""
        nearest = self._nearest if self._only else self._nearest_of(remaining)
        if resets is not self._resets or nearest != self._nearest:
            self._nearest, self._resets = nearest, resets
            self._tell(nearest, resets)
        told = self._told.copy()
        for name, at in self._varies:
            told[name] = f"{remaining[at]}"
        return told

    def _nearest_of(self, remaining: Sequence[int]) -> list[int]:
        limits = self.asked.limits
        return [
            min(among, key=lambda at: remaining[at] / limits[at].amount) for among in self._among
        ]

    def _tell(self, nearest: Sequence[int], resets: Sequence[float]) -> None:
        """Put together what is the same for requests that come soon after one another."""
        self._told, self._varies = {}, []
        for (amount, left, reset), at in zip(self._names, nearest, strict=True):
            self._told[amount] = f"{self.asked.limits[at].amount}"
            self._told[left] = ""
            self._told[reset] = f"{resets[at]:.3f}s"
            self._varies.append((left, at))

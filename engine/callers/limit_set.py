"""The limits that requests alike are held against: found once, asked for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.exchange.exchange import Exchange
from engine.exchange.record import RequestRecord
from engine.metering.estimate import expected
from engine.values.counters import Limit
from engine.values.quota import Rule
from engine.values.usage import Price, Usage
from engine.values.wildcard import ByName

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


class LimitSet:
    """The limits `rules` of requests for which `whose` says, rule by rule, who shares it."""

    def __init__(self, rules: Sequence[Rule], whose: Sequence[str]) -> None:
        self.rules = tuple(rules)
        self.limits = tuple(
            Limit(f"{rule.name}|{who}", rule.allowance.amount, rule.allowance.window)
            for rule, who in zip(rules, whose, strict=True)
        )
        self._kinds = kinds = [rule.allowance.kind for rule in rules]
        self._tokens = [at for at, kind in enumerate(kinds) if kind == "tokens"]
        self._money = [at for at, kind in enumerate(kinds) if kind == "spend"]
        self._settled = bool(self._tokens or self._money) or "concurrency" in kinds
        self._first = [0 if kind in _COSTLY else 1 for kind in kinds]
        self._last = [1 if kind == "requests" else 0 for kind in kinds]
        self._none = [0] * len(kinds)
        each = [[at for at, one in enumerate(kinds) if one == kind] for kind in _SHOWN]
        self._among = [among for among in each if among]
        self._sayings: dict[tuple[int, ...], _Saying] = {}
        nearest = self._nearest([0] * len(kinds))
        self._only = nearest if all(len(among) == 1 for among in self._among) else None

    def costs(self, exchange: Exchange, prices: ByName[Price]) -> Sequence[int]:
        """What a request takes of each."""
        if not self._tokens and not self._money:
            return self._first
        usage = expected(exchange)
        price = prices.find(exchange.record.model or exchange.model) if self._money else None
        return self._with(self._first, usage, 0 if price is None else price.cost(usage))

    def came_to(self, record: RequestRecord) -> Sequence[int] | None:
        """What it took in the end: nothing, when it never reached an upstream; None where that is
        what was taken, and nothing is held that is to be given back."""
        if record.status >= 400 and not record.reached_upstream:
            return self._none
        if not self._settled:
            return None
        return self._with(self._last, record.usage, record.cost)

    def _with(self, plain: Sequence[int], usage: Usage, money: int) -> Sequence[int]:
        """`plain`, with tokens and money filled in."""
        costs = list(plain)
        for at in self._tokens:
            costs[at] = usage.input + usage.output
        for at in self._money:
            costs[at] = money
        return costs

    def headers(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        """`x-ratelimit-*` as OpenAI names them: of each kind, the limit that is nearest."""
        saying = self._only or self._nearest(remaining)
        return saying.headers(remaining, resets)

    def _nearest(self, remaining: Sequence[int]) -> _Saying:
        limits = self.limits
        ats = tuple(
            min(among, key=lambda at: remaining[at] / limits[at].amount) for among in self._among
        )
        found = self._sayings.get(ats)
        if found is None:
            found = self._sayings[ats] = _Saying([(at, self._kinds[at], limits[at]) for at in ats])
        return found


class _Saying:
    """What headers say of some limits, of each its number among all, its kind, and itself."""

    def __init__(self, limits: Sequence[tuple[int, str, Limit]]) -> None:
        self._said: dict[str, str] = {}
        self._left: list[tuple[str, int]] = []
        self._reset: list[tuple[str, int]] = []
        for at, kind, limit in limits:
            amount, remaining, reset = _SHOWN[kind]
            self._said |= {amount: f"{limit.amount}", remaining: "", reset: ""}
            self._left.append((remaining, at))
            self._reset.append((reset, at))

    def headers(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        said = self._said.copy()
        for name, at in self._left:
            said[name] = f"{remaining[at]}"
        for name, at in self._reset:
            said[name] = f"{resets[at]:.3f}s"
        return said

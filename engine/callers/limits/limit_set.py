"""The quotas that apply to a request: their counters, its costs and the response headers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from engine.exchange.exchange import Exchange
from engine.exchange.request_record import RequestRecord
from engine.metering.estimate import expected_usage
from engine.values.counters import Limit, LimitWarning, TakeResult
from engine.values.price import Price
from engine.values.price_list import Prices
from engine.values.quota import KINDS, QuotaRule
from engine.values.units import format_nano
from engine.values.usage import Usage


class LimitSet:
    """The quotas `rules`; `sharers` has, for each, the name under which it is counted.

    All requests with the same counters share one object. The costs of a request are one number per
    quota, in the order of `rules`. `settles`: the final costs of a request may differ from the
    first ones even if it reaches an upstream. `warns`: some of them have warnings. `earlier` makes
    the set of the same request that was taken before these; it is called if that has quotas.
    """

    def __init__(
        self,
        rules: Sequence[QuotaRule],
        sharers: Sequence[str],
        earlier: Callable[[], LimitSet] | None = None,
    ) -> None:
        self.rules = tuple(rules)
        self.sharers = tuple(sharers)
        self._earlier = earlier
        self.limits = tuple(
            Limit(f"{rule.name}|{sharer}", rule.quota.amount, rule.quota.window)
            for rule, sharer in zip(rules, sharers, strict=True)
        )
        self._shape = shape = _shape(self.rules)
        self.settles, self.warns = shape.settles, shape.warns

    def costs(self, exchange: Exchange, prices: Prices) -> Sequence[int]:
        """The estimated costs of a request before it is sent."""
        shape = self._shape
        if not shape.costs:
            return shape.first_costs
        usage = expected_usage(exchange)
        price = _price(exchange, prices) if shape.has_money else None
        return shape.with_costs(shape.first_costs, usage, 0 if price is None else price.cost(usage))

    def final_costs(self, record: RequestRecord) -> Sequence[int] | None:
        """The real costs of a request that ended, 0 if it failed before it reached an upstream;
        None if the first costs were right and there is nothing to settle."""
        if record.status >= 400 and not record.reached_upstream:
            return self._shape.no_costs
        if not self.settles:
            return None
        return self._shape.with_costs(self._shape.final_costs, record.usage, record.cost)

    def warnings(
        self, costs: Sequence[int], result: TakeResult, record: RequestRecord
    ) -> list[LimitWarning]:
        """The warnings that are due when a request ends that took `costs`, with its final ones."""
        final = self.final_costs(record) or costs
        used = [
            limit.amount - remaining - cost + final_cost
            for limit, remaining, cost, final_cost in zip(
                self.limits, result.remaining, costs, final, strict=True
            )
        ]
        return [
            self._warning(at, percent, used[at], result)
            for at, percent, threshold in self._shape.thresholds
            if used[at] >= threshold
        ]

    def refusal_warnings(self, result: TakeResult) -> list[LimitWarning]:
        """The warnings of the quota that refuses a request: it has ended."""
        at = result.denied
        used = 0 if at is None else self.limits[at].amount - result.remaining[at]
        return [
            self._warning(index, percent, used, result)
            for index, percent, threshold in self._shape.thresholds
            if index == at and (percent == 100 or used >= threshold)
        ]

    def _warning(self, at: int, percent: int, used: int, result: TakeResult) -> LimitWarning:
        reset = result.resets[at]
        return LimitWarning(self.rules[at], self.sharers[at], self.limits[at], percent, used, reset)

    def headers(
        self,
        remaining: Sequence[int],
        resets: Sequence[float],
        earlier: TakeResult | None = None,
    ) -> dict[str, str]:
        """`x-ratelimit-*` as OpenAI names them, and those of money: for each kind, the quota with
        the smallest share left. `earlier` is what the earlier quotas of the request had left."""
        if earlier is not None:
            return self._with_earlier.headers(
                [*earlier.remaining, *remaining], [*earlier.resets, *resets]
            )
        shape = self._shape
        headers = shape.fixed_headers or shape.tightest(remaining)
        return headers.render(remaining, resets)

    @cached_property
    def _with_earlier(self) -> LimitSet:
        """These quotas behind the earlier ones."""
        assert self._earlier is not None
        earlier = self._earlier()
        return LimitSet([*earlier.rules, *self.rules], [*earlier.sharers, *self.sharers])


class _Shape:
    """What limit sets with the same rules have in common, whoever shares them: each new caller has
    sets of its own."""

    def __init__(self, rules: Sequence[QuotaRule]) -> None:
        self._rules = rules
        self._amounts = [rule.quota.amount for rule in rules]
        kinds = [KINDS[rule.quota.kind] for rule in rules]
        self.costs = [(at, kind.cost) for at, kind in enumerate(kinds) if kind.cost is not None]
        self.has_money = any(kind.money for kind in kinds)
        self.settles = bool(self.costs) or any(kind.at_one_time for kind in kinds)
        self.first_costs = [0 if kind.cost is not None else 1 for kind in kinds]
        self.final_costs = [0 if kind.cost is not None or kind.at_one_time else 1 for kind in kinds]
        self.no_costs = [0] * len(kinds)
        self.thresholds = [
            (at, percent, -(-rule.quota.amount * percent // 100))
            for at, rule in enumerate(rules)
            for percent in rule.quota.warn_at
        ]
        self.warns = bool(self.thresholds)
        self._groups = self._header_groups()
        self._headers: dict[tuple[int, ...], RateLimitHeaders] = {}
        tightest = self.tightest(self.no_costs)
        self.fixed_headers = tightest if all(len(g) == 1 for g in self._groups) else None

    def _header_groups(self) -> list[list[int]]:
        """For each kind that the headers show, the positions of its quotas."""
        groups = [
            [at for at, rule in enumerate(self._rules) if rule.quota.kind == name]
            for name, kind in KINDS.items()
            if kind.header
        ]
        return [group for group in groups if group]

    def with_costs(self, base: Sequence[int], usage: Usage, price_nano: int) -> Sequence[int]:
        """The costs, those by usage of this one."""
        costs = list(base)
        for at, cost in self.costs:
            costs[at] = cost(usage, price_nano)
        return costs

    def tightest(self, remaining: Sequence[int]) -> RateLimitHeaders:
        """The headers of the quotas that have the smallest share left, one of each kind."""
        amounts = self._amounts
        tightest = tuple(
            [
                group[0]
                if len(group) == 1
                else min(group, key=lambda at: remaining[at] / amounts[at])
                for group in self._groups
            ]
        )
        headers = self._headers.get(tightest)
        if headers is None:
            headers = self._headers[tightest] = RateLimitHeaders(
                [(at, self._rules[at].quota.kind, amounts[at]) for at in tightest]
            )
        return headers


_shape = lru_cache(1_000)(_Shape)


def _price(exchange: Exchange, prices: Prices) -> Price | None:
    """The price at the first target, for the caller's team."""
    model, caller = exchange.model, exchange.caller
    team_prices = prices if caller is None else prices.of(caller.team)
    if not model.targets:
        return team_prices.find(model.name)
    target = model.targets[0]
    entry, upstream_model = target.exact_entry or model.name, target.model or model.name
    return team_prices.find(entry, target.upstream.name, upstream_model)


class RateLimitHeaders:
    """The headers of some quotas, given by position, kind and amount. Money is in units of the
    currency."""

    def __init__(self, quotas: Sequence[tuple[int, str, int]]) -> None:
        self._fields: dict[str, str] = {}
        self._names: list[tuple[int, str, str]] = []
        self._money: list[tuple[int, str]] = []
        for at, kind, amount in quotas:
            name, is_money = KINDS[kind].header, KINDS[kind].money
            remaining, reset = f"x-ratelimit-remaining-{name}", f"x-ratelimit-reset-{name}"
            text = format_nano(amount) if is_money else str(amount)
            self._fields |= {f"x-ratelimit-limit-{name}": text, remaining: "", reset: ""}
            self._names.append((at, remaining, reset))
            if is_money:
                self._money.append((at, remaining))

    def render(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        fields = self._fields.copy()
        for at, remaining_name, reset_name in self._names:
            fields[remaining_name] = f"{remaining[at]}"
            fields[reset_name] = f"{resets[at]:.3f}s"
        for at, name in self._money:
            fields[name] = format_nano(remaining[at])
        return fields

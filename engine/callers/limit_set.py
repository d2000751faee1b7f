"""The quotas that apply to a request: their counters, its costs and the response headers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property, lru_cache

from engine.exchange.exchange import Exchange
from engine.exchange.record import RequestRecord
from engine.metering.estimate import expected_usage
from engine.values.client_address import Network, caller_address
from engine.values.counters import Limit, TakeResult
from engine.values.price import Price, Prices
from engine.values.quota import KINDS, Quota, QuotaRule, depends_on_model, window_key
from engine.values.usage import Usage


class LimitSet:
    """The quotas `rules`; `sharers` has, for each, the name under which it is counted.

    All requests with the same counters share one object. The costs of a request are one number per
    quota, in the order of `rules`. `settles`: the final costs of a request may differ from the
    first ones even if it reaches an upstream. `earlier` are the quotas of the same request that
    were taken before these.
    """

    def __init__(
        self,
        rules: Sequence[QuotaRule],
        sharers: Sequence[str],
        earlier: LimitSet | None = None,
    ) -> None:
        self.rules = tuple(rules)
        self.sharers = tuple(sharers)
        self._earlier = earlier
        self.limits = tuple(
            Limit(f"{rule.name}|{sharer}", rule.quota.amount, rule.quota.window)
            for rule, sharer in zip(rules, sharers, strict=True)
        )
        kinds = [KINDS[rule.quota.kind] for rule in rules]
        self._costs = [(at, kind.cost) for at, kind in enumerate(kinds) if kind.cost is not None]
        self._has_money = any(kind.money for kind in kinds)
        self.settles = bool(self._costs) or any(kind.at_one_time for kind in kinds)
        self._first_costs = [0 if kind.cost is not None else 1 for kind in kinds]
        self._final_costs = [
            0 if kind.cost is not None or kind.at_one_time else 1 for kind in kinds
        ]
        self._no_costs = [0] * len(kinds)
        self._groups = self._header_groups()
        self._headers: dict[tuple[int, ...], _RateLimitHeaders] = {}
        tightest = self._tightest(self._no_costs)
        self._fixed_headers = tightest if all(len(g) == 1 for g in self._groups) else None

    def _header_groups(self) -> list[list[int]]:
        """For each kind that the headers show, the positions of its quotas."""
        groups = [
            [at for at, rule in enumerate(self.rules) if rule.quota.kind == name]
            for name, kind in KINDS.items()
            if kind.in_headers
        ]
        return [group for group in groups if group]

    def costs(self, exchange: Exchange, prices: Prices) -> Sequence[int]:
        """The estimated costs of a request before it is sent."""
        if not self._costs:
            return self._first_costs
        usage = expected_usage(exchange)
        price = _price(exchange, prices) if self._has_money else None
        return self._with_costs(self._first_costs, usage, 0 if price is None else price.cost(usage))

    def final_costs(self, record: RequestRecord) -> Sequence[int] | None:
        """The real costs of a request that ended, 0 if it failed before it reached an upstream;
        None if the first costs were right and there is nothing to settle."""
        if record.status >= 400 and not record.reached_upstream:
            return self._no_costs
        if not self.settles:
            return None
        return self._with_costs(self._final_costs, record.usage, record.cost)

    def _with_costs(self, base: Sequence[int], usage: Usage, price_nano: int) -> Sequence[int]:
        costs = list(base)
        for at, cost in self._costs:
            costs[at] = cost(usage, price_nano)
        return costs

    def headers(
        self,
        remaining: Sequence[int],
        resets: Sequence[float],
        earlier: TakeResult | None = None,
    ) -> dict[str, str]:
        """`x-ratelimit-*` as OpenAI names them: for each kind, the quota with the smallest share
        left. `earlier` is what the earlier quotas of the request had left."""
        if earlier is not None:
            return self._with_earlier.headers(
                [*earlier.remaining, *remaining], [*earlier.resets, *resets]
            )
        headers = self._fixed_headers or self._tightest(remaining)
        return headers.render(remaining, resets)

    @cached_property
    def _with_earlier(self) -> LimitSet:
        """These quotas behind the earlier ones."""
        earlier = self._earlier
        assert earlier is not None
        return LimitSet([*earlier.rules, *self.rules], [*earlier.sharers, *self.sharers])

    def _tightest(self, remaining: Sequence[int]) -> _RateLimitHeaders:
        limits = self.limits
        tightest = tuple(
            min(group, key=lambda at: remaining[at] / limits[at].amount) for group in self._groups
        )
        headers = self._headers.get(tightest)
        if headers is None:
            headers = self._headers[tightest] = _RateLimitHeaders(
                [(at, self.rules[at].quota.kind, limits[at].amount) for at in tightest]
            )
        return headers


def _price(exchange: Exchange, prices: Prices) -> Price | None:
    """The price at the first target."""
    model = exchange.model
    if not model.targets:
        return prices.find(model.name)
    target = model.targets[0]
    entry, upstream_model = target.exact_entry or model.name, target.model or model.name
    return prices.find(entry, target.upstream.name, upstream_model)


class Part(Enum):
    """Which quotas a request takes at one moment."""

    ALL = "all"
    HEAD = "those that its head decides"
    MODEL = "those that depend on its model or its body"

    def has(self, quota: Quota, by: str) -> bool:
        """Whether the quota, shared `by`, is one of this part."""
        return self is Part.ALL or depends_on_model(quota, by) == (self is Part.MODEL)


class LimitSets:
    """The limit sets of a route, of one `part` of its quotas and of those of tokens: one for each
    token or address, operation, model and upstream.

    An LRU cache holds `size` of them. `upstream` is the route's fixed upstream, "" without one.
    """

    def __init__(
        self,
        rules: Sequence[QuotaRule],
        proxies: Sequence[Network],
        upstream: str,
        part: Part = Part.ALL,
        size: int = 1_000,
    ) -> None:
        self._rules = [rule for rule in rules if part.has(rule.quota, rule.by)]
        self._part = part
        self.has_rules = bool(self._rules)
        self._earlier = (
            LimitSets(rules, proxies, upstream, Part.HEAD, size) if part is Part.MODEL else None
        )
        self._proxies = proxies
        self._upstream = upstream
        # Without these sharers, a token has one limit set for all operations and targets.
        shared_by = {rule.by for rule in (rules if part is Part.MODEL else self._rules)}
        self._by_target = not shared_by.isdisjoint({"model", "upstream"})
        self._by_route = "route" in shared_by
        self._limit_set = lru_cache(size)(self._create)

    def of(self, exchange: Exchange) -> LimitSet:
        """The limit set of a request."""
        caller, entry, upstream = exchange.caller, "", self._upstream
        operation = exchange.operation if self._by_route else ""
        if self._by_target and (targets := exchange.model.targets):
            first = targets[0]
            # All names that match a wildcard share a count: a caller could invent new names.
            entry, upstream = first.entry, first.upstream.name
        if caller is not None:
            return self._limit_set(caller.name, caller.limits, operation, entry, upstream)
        address = f"@{caller_address(exchange.environ, self._proxies)}"
        return self._limit_set(address, (), operation, entry, upstream)

    def _create(
        self, name: str, quotas: tuple[Quota, ...], operation: str, model: str, upstream: str
    ) -> LimitSet:
        """The quotas of the route, then those of the token. `name` is the token's name, or the
        address of a caller without a token."""
        sharers = {"token": name, "route": operation, "model": model, "upstream": upstream}
        token_rules = [
            QuotaRule(quota, "token", f"token/{quota.kind}/{window_key(quota.window)}")
            for quota in quotas
            if self._part.has(quota, "token")
        ]
        rules = [*self._rules, *token_rules]
        earlier = self._earlier
        return LimitSet(
            rules,
            [sharers.get(rule.by, "") for rule in rules],
            None if earlier is None else earlier._create(name, quotas, operation, model, upstream),
        )


class _RateLimitHeaders:
    """The headers of some quotas, given by position, kind and amount."""

    def __init__(self, quotas: Sequence[tuple[int, str, int]]) -> None:
        self._fields: dict[str, str] = {}
        self._names: list[tuple[int, str, str]] = []
        for at, kind, amount in quotas:
            remaining, reset = f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}"
            self._fields |= {f"x-ratelimit-limit-{kind}": str(amount), remaining: "", reset: ""}
            self._names.append((at, remaining, reset))

    def render(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        fields = self._fields.copy()
        for at, remaining_name, reset_name in self._names:
            fields[remaining_name] = f"{remaining[at]}"
            fields[reset_name] = f"{resets[at]:.3f}s"
        return fields

"""The quotas that apply to a request: their counters, its costs and the response headers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from engine.exchange.exchange import Exchange
from engine.exchange.record import RequestRecord
from engine.metering.estimate import expected_usage
from engine.values.client_address import Network, caller_address
from engine.values.counters import Limit
from engine.values.price import Price, Prices
from engine.values.quota import KINDS, Quota, QuotaRule, window_key
from engine.values.usage import Usage


class LimitSet:
    """The quotas `rules`; `sharers` names, for each, the callers that share it.

    It is made once for requests that share all their counters. The costs of a request are one
    number per quota, in the order of `rules`. `settles`: they may change until the request ends,
    also of one that reaches an upstream.
    """

    def __init__(self, rules: Sequence[QuotaRule], sharers: Sequence[str]) -> None:
        self.rules = tuple(rules)
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
        nearest = self._nearest(self._no_costs)
        self._only = nearest if all(len(group) == 1 for group in self._groups) else None

    def _header_groups(self) -> list[list[int]]:
        """The positions of the quotas of each kind that the headers show."""
        groups = [
            [at for at, rule in enumerate(self.rules) if rule.quota.kind == name]
            for name, kind in KINDS.items()
            if kind.in_headers
        ]
        return [group for group in groups if group]

    def costs(self, exchange: Exchange, prices: Prices) -> Sequence[int]:
        """The estimated cost of a request before it is sent."""
        if not self._costs:
            return self._first_costs
        usage = expected_usage(exchange)
        price = _price(exchange, prices) if self._has_money else None
        return self._with_costs(self._first_costs, usage, 0 if price is None else price.cost(usage))

    def final_costs(self, record: RequestRecord) -> Sequence[int] | None:
        """The real cost of a request that ended, nothing if it never reached an upstream; None
        where the first costs were right and nothing is to be given back."""
        if record.status >= 400 and not record.reached_upstream:
            return self._no_costs
        if not self.settles:
            return None
        return self._with_costs(self._final_costs, record.usage, record.cost)

    def _with_costs(self, base: Sequence[int], usage: Usage, nanos: int) -> Sequence[int]:
        costs = list(base)
        for at, cost in self._costs:
            costs[at] = cost(usage, nanos)
        return costs

    def headers(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        """`x-ratelimit-*` as OpenAI names them: of each kind, the quota that is nearest its end."""
        headers = self._only or self._nearest(remaining)
        return headers.render(remaining, resets)

    def _nearest(self, remaining: Sequence[int]) -> _RateLimitHeaders:
        limits = self.limits
        nearest = tuple(
            min(group, key=lambda at: remaining[at] / limits[at].amount) for group in self._groups
        )
        headers = self._headers.get(nearest)
        if headers is None:
            headers = self._headers[nearest] = _RateLimitHeaders(
                [(at, self.rules[at].quota.kind, limits[at].amount) for at in nearest]
            )
        return headers


def _price(exchange: Exchange, prices: Prices) -> Price | None:
    """The price at the target that is tried first."""
    if not exchange.targets:
        return prices.find(exchange.model)
    target = exchange.targets[0]
    upstream_model = target.model or exchange.model
    return prices.find(target.exact_entry or exchange.model, target.upstream.name, upstream_model)


class LimitSets:
    """The limit sets of a route: one for each token or address, operation, model and upstream.

    The `size` that were used last are kept. `upstream` is the route's fixed one.
    """

    def __init__(
        self,
        rules: Sequence[QuotaRule],
        proxies: Sequence[Network],
        upstream: str,
        size: int = 1_000,
    ) -> None:
        self._rules = rules
        self._proxies = proxies
        self._upstream = upstream
        # Limits of a token alone are the same for all operations, models and upstreams.
        shared_by = {rule.by for rule in rules}
        self._by_target = not shared_by.isdisjoint({"model", "upstream"})
        self._by_route = "route" in shared_by
        self._limit_set = lru_cache(size)(self._create)

    def of(self, exchange: Exchange) -> LimitSet:
        """The limit set of a request."""
        caller, entry, upstream = exchange.caller, "", self._upstream
        operation = exchange.operation if self._by_route else ""
        if self._by_target and exchange.targets:
            first = exchange.targets[0]
            # All names that match a wildcard count together: a caller could invent new ones.
            entry, upstream = first.entry, first.upstream.name
        if caller is not None:
            return self._limit_set(caller.name, caller.limits, operation, entry, upstream)
        address = f"@{caller_address(exchange.environ, self._proxies)}"
        return self._limit_set(address, (), operation, entry, upstream)

    def _create(
        self, name: str, quotas: tuple[Quota, ...], operation: str, model: str, upstream: str
    ) -> LimitSet:
        """The quotas of the route, then those of the token; `name` is the token's, or an address
        without one."""
        sharers = {"token": name, "route": operation, "model": model, "upstream": upstream}
        of_token = [
            QuotaRule(quota, "token", f"token/{quota.kind}/{window_key(quota.window)}")
            for quota in quotas
        ]
        rules = [*self._rules, *of_token]
        return LimitSet(rules, [sharers.get(rule.by, "") for rule in rules])


class _RateLimitHeaders:
    """The headers of some quotas: of each its position, its kind and its amount."""

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

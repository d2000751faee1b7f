"""The quotas that apply to a request: their counters, its costs and the response headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property, lru_cache

from engine.callers.request_names import RequestNames, team_name
from engine.exchange.exchange import Exchange
from engine.exchange.record import RequestRecord
from engine.metering.estimate import expected_usage
from engine.values.bounded_names import NameTables
from engine.values.caller import Team
from engine.values.client_address import Network, caller_address
from engine.values.counters import Limit, TakeResult
from engine.values.limit_warning import LimitWarning
from engine.values.price import Price, Prices
from engine.values.quota import KINDS, Quota, QuotaRule, depends_on_model, window_key
from engine.values.sharing import Sharer, Sharing, bounded, shared_by
from engine.values.units import format_nano
from engine.values.usage import Usage


class LimitSet:
    """The quotas `rules`; `sharers` has, for each, the name under which it is counted.

    All requests with the same counters share one object. The costs of a request are one number per
    quota, in the order of `rules`. `settles`: the final costs of a request may differ from the
    first ones even if it reaches an upstream. `warns`: some of them have warnings. `earlier` are
    the quotas of the same request that were taken before these.
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
        self._thresholds = [
            (at, percent, -(-rule.quota.amount * percent // 100))
            for at, rule in enumerate(rules)
            for percent in rule.quota.warn_at
        ]
        self.warns = bool(self._thresholds)
        self._groups = self._header_groups()
        self._headers: dict[tuple[int, ...], _RateLimitHeaders] = {}
        tightest = self._tightest(self._no_costs)
        self._fixed_headers = tightest if all(len(g) == 1 for g in self._groups) else None

    def _header_groups(self) -> list[list[int]]:
        """For each kind that the headers show, the positions of its quotas."""
        groups = [
            [at for at, rule in enumerate(self.rules) if rule.quota.kind == name]
            for name, kind in KINDS.items()
            if kind.header
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
            for at, percent, threshold in self._thresholds
            if used[at] >= threshold
        ]

    def refusal_warnings(self, result: TakeResult) -> list[LimitWarning]:
        """The warnings of the quota that refuses a request: it has ended."""
        at = result.denied
        used = 0 if at is None else self.limits[at].amount - result.remaining[at]
        return [
            self._warning(index, percent, used, result)
            for index, percent, threshold in self._thresholds
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

    HEAD = "on a route to models, those that the head of the request decides"
    MODEL = "on such a route, the others: those that depend on its model or its body"
    ALL = "on any other route, all but those of BODY"
    BODY = "on such a route, those that are counted by a member of the body"

    def has(self, quota: Quota, by: Sharing) -> bool:
        """Whether the quota, shared `by`, is one of this part."""
        if self in (Part.ALL, Part.BODY):
            return ("body" in by.kinds) == (self is Part.BODY)
        return depends_on_model(quota, by) == (self is Part.MODEL)

    @property
    def earlier(self) -> Part | None:
        """The part of the same request that is taken before this one."""
        return {Part.MODEL: Part.HEAD, Part.BODY: Part.ALL}.get(self)


class LimitSets:
    """The limit sets of a route, of one `part` of its quotas and of those of tokens and teams: one
    for each token or address, operation, model, upstream, and name that the request says.

    An LRU cache holds `size` of them. `upstream` is the route's fixed upstream, "" without one.
    `tables` bound the names.
    """

    def __init__(
        self,
        rules: Sequence[QuotaRule],
        proxies: Sequence[Network],
        upstream: str,
        part: Part = Part.ALL,
        size: int = 1_000,
        tables: NameTables | None = None,
    ) -> None:
        self._rules = [rule for rule in rules if part.has(rule.quota, rule.by)]
        self._part = part
        self.has_rules = bool(self._rules)
        earlier = part.earlier
        self._earlier = None if earlier is None else LimitSets(rules, proxies, upstream, earlier)
        self._proxies = proxies
        self._upstream = upstream
        # Without these sharers, a token has one limit set for all operations and targets.
        kinds = {kind for rule in (rules if earlier else self._rules) for kind in rule.by.kinds}
        self._by_target = not kinds.isdisjoint({"model", "upstream"})
        self._by_route = "route" in kinds
        self._by_team = any("team" in rule.by.kinds for rule in self._rules)
        names = RequestNames(self._rules, tables or NameTables())
        self._places, self._read_names = names.sharers, names.readers
        self._limit_set = lru_cache(size)(self._create)

    def of(self, exchange: Exchange) -> LimitSet:
        """The limit set of a request."""
        caller, entry, upstream = exchange.caller, "", self._upstream
        operation = exchange.operation if self._by_route else ""
        if self._by_target and (targets := exchange.model.targets):
            first = targets[0]
            # All names that match a wildcard share a count: a caller could invent new names.
            entry, upstream = first.entry, first.upstream.name
        names = tuple([read(exchange) for read in self._read_names]) if self._read_names else ()
        team = team_name(caller, self._rules) if self._by_team else ""
        where = operation, entry, upstream, team
        if caller is not None:
            return self._limit_set(caller.name, caller.limits, caller.teams, where, names)
        address = f"@{caller_address(exchange.environ, self._proxies)}"
        return self._limit_set(address, (), (), where, names)

    def _create(
        self,
        name: str,
        quotas: tuple[Quota, ...],
        teams: tuple[Team, ...],
        where: tuple[str, str, str, str],
        names: tuple[str, ...],
    ) -> LimitSet:
        """The quotas of the route, then those of the token and of its teams. `name` is the token's
        name, or the address of a caller without a token; `where` are the operation, the model, the
        upstream and the name of the team. `names` are those that the request says."""
        sharers = {Sharer(kind): text for kind, text in zip(_WHERE, where, strict=True)}
        sharers[Sharer("token")] = name
        sharers.update(zip(self._places, names, strict=False))  # the earlier part has others
        listed = [(rule, name_of(rule.by, sharers)) for rule in self._rules]
        listed += [(rule, name) for rule in self._own_rules("token", quotas)]
        for team in teams:
            listed += [(rule, bounded(team.name)) for rule in self._own_rules("team", team.limits)]
        earlier = self._earlier
        return LimitSet(
            [rule for rule, _ in listed],
            [sharer for _, sharer in listed],
            None if earlier is None else earlier._create(name, quotas, teams, where, ()),
        )

    def _own_rules(self, kind: str, quotas: Sequence[Quota]) -> list[QuotaRule]:
        """The quotas of a token or a team that are of this part."""
        return [r for r in own_rules(kind, quotas) if self._part.has(r.quota, r.by)]


def own_rules(kind: str, quotas: Sequence[Quota]) -> list[QuotaRule]:
    """The quotas of a token or a team, which is the `kind`, with the names that they are counted
    by."""
    by = shared_by(kind)
    return [
        QuotaRule(quota, by, f"{kind}/{quota.kind}/{window_key(quota.window)}") for quota in quotas
    ]


_WHERE = ("route", "model", "upstream", "team")


def name_of(by: Sharing, names: Mapping[Sharer, str]) -> str:
    """The name under which a quota is counted. Those of several sharers are bounded, so that no two
    combinations have the same."""
    texts = [names.get(sharer, "") for sharer in by.sharers]
    if len(texts) < 2:
        return "".join(texts)
    return "|".join(
        bounded(text) if sharer.kind in _UNBOUNDED else text
        for sharer, text in zip(by.sharers, texts, strict=True)
    )


_UNBOUNDED = frozenset({"token", "route", "model", "upstream"})
"""The sharers whose names are as the config or an address has them."""


class _RateLimitHeaders:
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

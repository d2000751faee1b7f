"""The limit sets of a route: which quotas a request takes at one moment, and their counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache, partial

from engine.callers.limits.limit_set import LimitSet
from engine.callers.limits.request_names import RequestNames, team_name
from engine.exchange.exchange import Exchange
from engine.values.bounded_names import NameTables
from engine.values.caller import Team
from engine.values.client_address import Network, caller_address
from engine.values.quota import Quota, QuotaRule, depends_on_model
from engine.values.quota_sharers import Sharer, Sharing, bounded, shared_by
from engine.values.quota_window import window_key


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


class RouteLimits:
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
        self._earlier = None if earlier is None else RouteLimits(rules, proxies, upstream, earlier)
        self._proxies = proxies
        self._upstream = upstream
        # Without these sharers, a token has one limit set for all operations and targets.
        kinds = {kind for rule in (rules if earlier else self._rules) for kind in rule.by.kinds}
        self._by_target = not kinds.isdisjoint({"model", "upstream"})
        self._by_route = "route" in kinds
        self._by_team = any("team" in rule.by.kinds for rule in self._rules)
        names = RequestNames(self._rules, tables or NameTables())
        self._places, self._read_names = names.sharers, names.readers
        by_request = self._by_route or self._by_target or self._by_team or self._read_names
        self._where = None if by_request else ("", "", upstream, "")
        """The same for all requests, or None."""
        self._limit_set = lru_cache(size)(self._create)

    def of(self, exchange: Exchange) -> LimitSet:
        """The limit set of a request."""
        caller, where = exchange.caller, self._where
        names: tuple[str, ...] = ()
        if where is None:
            where, names = self._place(exchange)
        if caller is not None:
            return self._limit_set(caller.name, caller.limits, caller.teams, where, names)
        address = f"@{caller_address(exchange.environ, self._proxies)}"
        return self._limit_set(address, (), (), where, names)

    def _place(self, exchange: Exchange) -> tuple[tuple[str, str, str, str], tuple[str, ...]]:
        """The operation, model, upstream and team of a request, as far as quotas are shared by
        them, and the names that it says."""
        entry, upstream = "", self._upstream
        operation = exchange.operation if self._by_route else ""
        if self._by_target and (targets := exchange.model.targets):
            first = targets[0]
            # All names that match a wildcard share a count: a caller could invent new names.
            entry, upstream = first.entry, first.upstream.name
        team = team_name(exchange.caller, self._rules) if self._by_team else ""
        return (operation, entry, upstream, team), tuple(
            read(exchange) for read in self._read_names
        )

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
        sharers = dict(zip(_WHERE, where, strict=True))
        sharers[_TOKEN] = name
        sharers.update(zip(self._places, names, strict=False))  # the earlier part has others
        rules = [(rule, name_of(rule.by, sharers)) for rule in self._rules]
        rules += [(rule, name) for rule in self._own_rules("token", quotas)]
        for team in teams:
            rules += [(rule, bounded(team.name)) for rule in self._own_rules("team", team.limits)]
        earlier = self._earlier
        return LimitSet(
            [rule for rule, _ in rules],
            [sharer for _, sharer in rules],
            None if earlier is None else partial(earlier._create, name, quotas, teams, where, ()),
        )

    def _own_rules(self, kind: str, quotas: Sequence[Quota]) -> list[QuotaRule]:
        """The quotas of a token or a team that are of this part."""
        rules = own_rules(kind, quotas) if quotas else ()
        return [rule for rule in rules if self._part.has(rule.quota, rule.by)]


def own_rules(kind: str, quotas: Sequence[Quota]) -> list[QuotaRule]:
    """The quotas of a token or a team, which is the `kind`, with the names that they are counted
    by."""
    by = shared_by(kind)
    return [
        QuotaRule(quota, by, f"{kind}/{quota.kind}/{window_key(quota.window)}") for quota in quotas
    ]


_WHERE = tuple(map(Sharer, ("route", "model", "upstream", "team")))
_TOKEN = Sharer("token")


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

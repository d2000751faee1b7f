"""The limits that callers have, with what is used of them: a caller's own, for itself, and those of
many callers and teams, each once, for operators.

A caller's own are those of its token, of its teams, and of policies that count by one of these or
by a claim. What all callers share is nobody's own, and a header or member of the body is known only
when there is a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from types import MappingProxyType
from typing import NamedTuple

from engine.callers.limits.limit_set import LimitSet
from engine.callers.limits.route_limits import name_of, own_rules
from engine.values.caller import Caller, Team
from engine.values.counters import Counters
from engine.values.quota import QuotaRule
from engine.values.quota_sharers import NOBODY, Sharer, bounded

_OWN = frozenset({"token", "team", "claim"})
_LISTED = frozenset({"model"})
"""What is counted beside, of which a caller may have several."""
MAX_MODELS = 100
"""The models for which limits by model are looked at."""


class OwnLimits:
    """The limits of callers, from the `rules` of all routes; `models` are the names of the entries
    under `models`."""

    def __init__(self, rules: Iterable[QuotaRule], models: Sequence[str]) -> None:
        self._rules = [rule for rule in dict.fromkeys(rules) if _is_own(rule)]
        self._models = models

    def of(self, caller: Caller) -> LimitSet:
        """The limits of a caller: those of its token, of its teams, then those of policies, by
        model for each model that it may use."""
        rules = [(rule, caller.name) for rule in own_rules("token", caller.limits)]
        for team in caller.teams:
            rules += [(rule, bounded(team.name)) for rule in own_rules("team", team.limits)]
        for rule in self._rules:
            rules += [(rule, name) for name in self._names(rule, caller)]
        return LimitSet([rule for rule, _ in rules], [name for _, name in rules])

    def _names(self, rule: QuotaRule, caller: Caller) -> Iterator[str]:
        """The names under which a rule counts the caller."""
        places = [self._texts(sharer, caller) for sharer in rule.by.sharers]
        for texts in product(*places):
            yield name_of(rule.by, dict(zip(rule.by.sharers, texts, strict=True)))

    def _texts(self, sharer: Sharer, caller: Caller) -> Sequence[str]:
        if sharer.kind == "token":
            return (caller.name,)
        if sharer.kind == "team":
            return (bounded(caller.team),)
        if sharer.kind == "claim":
            return (caller.claims.get(sharer.name, "") or NOBODY,)
        return [name for name in self._models if caller.may_use(name)][:MAX_MODELS]


def _is_own(rule: QuotaRule) -> bool:
    """Whether callers share the rule with their own kind only, and nothing else decides."""
    kinds = rule.by.kinds
    return not kinds.isdisjoint(_OWN) and kinds <= _OWN | _LISTED


_BATCH = 200
"""The limits that are looked at in one step."""
MAX_COMBINATIONS = 10_000
"""The names of one policy that are looked at."""


class HeldLimit(NamedTuple):
    """A limit, the name under which it is counted, what is `used` of it, and the seconds until its
    window ends."""

    rule: QuotaRule
    sharer: str
    used: int
    reset: float


def held_limits(
    own: OwnLimits,
    callers: Iterable[Caller],
    teams: Iterable[Team] = (),
    rules: Sequence[QuotaRule] = (),
    names: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, tuple[QuotaRule, str]]:
    """The limits of callers and teams, and of policies that are nobody's own, by the keys of their
    counters. `names` are the models, upstreams and routes, by those words: policies count by them.
    What a request says itself is not known."""
    listed: dict[str, tuple[QuotaRule, str]] = {}
    for caller in callers:
        listed |= _keyed(own.of(caller))
    for team in teams:
        limits = own_rules("team", team.limits)
        listed |= _keyed(LimitSet(limits, [bounded(team.name)] * len(limits)))
    for rule in rules:
        shared = list(islice(_names(rule, names), MAX_COMBINATIONS))
        listed |= _keyed(LimitSet([rule] * len(shared), shared))
    return listed


def _keyed(limits: LimitSet) -> dict[str, tuple[QuotaRule, str]]:
    pairs = zip(limits.rules, limits.sharers, strict=True)
    return dict(zip((limit.key for limit in limits.limits), pairs, strict=True))


def _names(rule: QuotaRule, names: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The names under which a policy counts that is nobody's own."""
    sharers = rule.by.sharers
    if all(sharer.kind in names for sharer in sharers):
        for texts in product(*(names[sharer.kind] for sharer in sharers)):
            yield name_of(rule.by, dict(zip(sharers, texts, strict=True)))


def states(counters: Counters, listed: Mapping[str, tuple[QuotaRule, str]]) -> Iterator[HeldLimit]:
    """What is used of each limit. To take nothing is to look. Raises CountersAway."""
    pairs = iter(listed.values())
    while batch := list(islice(pairs, _BATCH)):
        limits = LimitSet([rule for rule, _ in batch], [name for _, name in batch])
        result = counters.take(limits.limits, (0,) * len(batch))
        for (rule, name), left, reset in zip(batch, result.remaining, result.resets, strict=True):
            yield HeldLimit(rule, name, rule.quota.amount - left, reset)

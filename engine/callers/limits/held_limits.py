"""The limits of many callers and teams, for operators: each once, with what is used of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from types import MappingProxyType
from typing import NamedTuple

from engine.callers.limits.limit_set import LimitSet
from engine.callers.limits.own_limits import OwnLimits
from engine.callers.limits.route_limits import name_of, own_rules
from engine.values.caller import Caller, Team
from engine.values.counters import Counters
from engine.values.quota import QuotaRule
from engine.values.quota_sharers import bounded

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

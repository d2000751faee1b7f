"""The limits that are a caller's own: of its token, of its teams, and of policies that count by one
of these or by a claim. What all callers share is nobody's own, and a header or member of the body
is known only when there is a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from engine.callers.limits.limit_set import LimitSet
from engine.callers.limits.route_limits import name_of, own_rules
from engine.values.caller import Caller
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

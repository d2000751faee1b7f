"""The limits of many callers, each once."""

from __future__ import annotations

from engine.callers.limits.held_limits import OwnLimits, held_limits, states
from engine.values.caller import Caller, Team
from engine.values.counters import TakeResult
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import Sharer, Sharing, shared_by
from tests.support.each import each

RATE = Quota("requests", 60, 60.0)
SEARCH = Team("search", limits=(RATE,))
NAMES = {"model": ["one", "two"], "upstream": ["main"], "route": ["api.x"]}


def keys(*rules, callers=(), teams=()):
    own = OwnLimits(rules, NAMES["model"])
    return [*held_limits(own, callers, teams, rules, NAMES)]


def test_the_limit_of_a_team_is_listed_once():
    callers = [Caller(name, team="search", teams=(SEARCH,)) for name in ("ann", "ben")]
    assert keys(callers=callers, teams=[SEARCH]) == ["team/requests/60|search"]


@each(
    "by,expected",
    [
        (shared_by(), ["rule|"]),
        (shared_by("model"), ["rule|one", "rule|two"]),
        (shared_by("upstream", "route"), ["rule|main|api.x"]),
        (shared_by("token"), ["rule|ann"]),
        (Sharing((Sharer("header", "x"),)), []),
    ],
)
def test_policies_are_listed_under_all_names_that_are_known(by, expected):
    assert keys(QuotaRule(RATE, by, "rule"), callers=[Caller("ann")]) == expected


def test_many_are_read_in_steps():
    sizes = []

    class Counters:
        def take(self, limits, costs):
            assert not any(costs)
            sizes.append(len(limits))
            return TakeResult(None, [50] * len(limits), [9.0] * len(limits))

    callers = [Caller(f"caller-{at}", limits=(RATE,)) for at in range(450)]
    held = [*states(Counters(), held_limits(OwnLimits([], []), callers))]
    assert sizes == [200, 200, 50]
    assert {(each.used, each.reset) for each in held} == {(10, 9.0)}

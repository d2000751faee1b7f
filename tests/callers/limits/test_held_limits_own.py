"""Which limits are a caller's own."""

from __future__ import annotations

from engine.callers.limits.held_limits import OwnLimits
from engine.values.caller import Caller, Team
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import NOBODY, Sharer, Sharing, shared_by
from tests.support.each import each

RATE = Quota("requests", 60, 60.0)
COMPANY, SEARCH = Team("company", limits=(RATE,)), Team("search", limits=(RATE,), parent="company")
ANN = Caller(
    "ann", limits=(RATE,), team="search", teams=(SEARCH, COMPANY), claims={"tenant": "acme"}
)
MODELS = ("one", "two")


def keys(by, caller=ANN):
    sharing = by if isinstance(by, Sharing) else shared_by(*by)
    rules = [QuotaRule(RATE, sharing, "rule")] * 2
    limits = OwnLimits(rules, MODELS).of(caller)
    return [limit.key for limit in limits.limits if limit.key.startswith("rule|")]


def test_those_of_the_token_and_of_its_teams_come_first():
    limits = OwnLimits([], MODELS).of(ANN)
    assert [limit.key for limit in limits.limits] == [
        "token/requests/60|ann",
        "team/requests/60|search",
        "team/requests/60|company",
    ]


@each(
    "by,expected",
    [
        (("token",), ["rule|ann"]),
        (("team",), ["rule|search"]),
        (("token", "model"), ["rule|ann|one", "rule|ann|two"]),
        (Sharing((Sharer("claim", "tenant"),)), ["rule|acme"]),
        (Sharing((Sharer("claim", "other"),)), [f"rule|{NOBODY}"]),
        ((), []),
        (("model",), []),
        (("upstream",), []),
        (("token", "route"), []),
        (Sharing((Sharer("token"), Sharer("header", "x"))), []),
    ],
)
def test_a_policy_is_ones_own_if_it_counts_by_the_caller(by, expected):
    assert keys(by) == expected


def test_models_are_those_that_the_caller_may_use():
    assert keys(("token", "model"), Caller("ann", models=("two",))) == ["rule|ann|two"]

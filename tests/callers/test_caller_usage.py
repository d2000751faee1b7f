"""What a caller sees of its limits and sums; tests/e2e/test_usage_answer.py judges its JSON."""

from __future__ import annotations

import pytest

from engine.callers.caller_usage import CallerUsage
from engine.callers.own_limits import OwnLimits
from engine.stores.database.failures import DatabaseAway
from engine.values.caller import Caller
from engine.values.counters import CountersAway, TakeResult
from engine.values.errors import GatewayError
from engine.values.quota import Quota, QuotaRule
from engine.values.sharing import shared_by

NOW = 1_800_000_000.0
NANO = 10**9
BUDGET = Quota("spend", 20 * NANO, 3600.0)
ANN = Caller("ann", limits=(BUDGET,), team="search")


class Counters:
    def __init__(self, remaining=5 * NANO):
        self.remaining, self.costs = remaining, []

    def take(self, limits, costs):
        self.costs.append(costs)
        if self.remaining is None:
            raise CountersAway("no connection")
        return TakeResult(None, [self.remaining] * len(costs), [60.0] * len(costs))


class Sums:
    def __init__(self, error=None):
        self.asked, self.error = [], error

    def sums(self, token, team, since, until):
        self.asked.append((token, team, since, until))
        if self.error is not None:
            raise self.error
        return {"days": [{"day": "2027-01-15", "cost": {"USD": NANO // 4}}], "models": []}


def usage(counters=None, sums=None, rules=(), caller=ANN, days=1, of_team=False):
    limits = OwnLimits(rules, ["one", "two"])
    return CallerUsage(limits, counters, sums, "USD", lambda: NOW)(caller, days, of_team)


def test_to_look_takes_nothing():
    counters = Counters()
    (limit,) = usage(counters)["limits"]
    assert (limit["used"], limit["left"], limit["resets_at"]) == (
        "15.00",
        "5.00",
        "2027-01-15T08:01:00Z",
    )
    assert counters.costs == [(0,)]


def test_limits_by_model_are_listed_where_they_are_used():
    rule = QuotaRule(Quota("requests", 60, 60.0), shared_by("token", "model"), "rule")
    assert len(usage(Counters(59), rules=[rule], caller=Caller("ann"))["limits"]) == 2
    assert usage(Counters(60), rules=[rule], caller=Caller("ann"))["limits"] == []


def test_without_counters_and_records_there_is_nothing_to_say():
    answer = usage()
    assert (answer["limits"], answer["usage"]) == ([], None)


def test_days_are_those_of_utc_today_included():
    sums = Sums()
    answer = usage(sums=sums, days=2)
    assert sums.asked == [("ann", "", 1_799_884_800.0, NOW)]
    assert answer["usage"]["since"] == "2027-01-14"
    assert answer["usage"]["days"] == [{"day": "2027-01-15", "cost": {"USD": "0.25"}}]


def test_the_sums_of_a_team_are_those_of_the_callers():
    sums = Sums()
    assert usage(sums=sums, of_team=True)["usage"]["of"] == {"team": "search"}
    assert sums.asked[0][:2] == ("", "search")


def test_sums_are_not_read_again_at_once():
    sums = Sums()
    of = CallerUsage(OwnLimits([], []), None, sums, "USD", lambda: NOW)
    for caller in (ANN, ANN, Caller("ben")):
        of(caller, 1, False)
    assert [token for token, *_ in sums.asked] == ["ann", "ben"]


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"counters": Counters(None)}, 503, "counters_unavailable"),
        ({"sums": Sums(DatabaseAway("away"))}, 503, "store_unavailable"),
        ({"caller": Caller("cid"), "of_team": True}, 400, "team_missing"),
    ],
)
def test_what_cannot_be_answered(more, status, code):
    with pytest.raises(GatewayError) as raised:
        usage(**more)
    assert (raised.value.status, raised.value.code) == (status, code)

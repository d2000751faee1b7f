"""What a caller sees of its limits and sums; tests/e2e/test_usage_answer.py judges its JSON."""

from __future__ import annotations

import pytest

from engine.callers.caller_usage import CallerUsage
from engine.callers.limits.held_limits import OwnLimits
from engine.stores.database.failures import DatabaseAway
from engine.stores.usage_query import UsageQuery
from engine.values.caller import Caller
from engine.values.counters import CountersAway, TakeResult
from engine.values.errors import GatewayError
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import shared_by

NOW = 1_800_000_000.0
TODAY = int(NOW) // 86_400
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

    def sums(self, by, token, team, since, until):
        self.asked.append((by, token, team, since, until))
        if self.error is not None:
            raise self.error
        return [{by: "x", "cost": {"USD": NANO // 4}}]

    def requests(self, token, after, limit):
        return None if after == "other" else [{"id": "1", "time": NOW - 0.5, "cost": {}}] * limit


def usage(counters=None, sums=None, rules=(), caller=ANN, by="", of_team=False):
    limits = OwnLimits(rules, ["one", "two"])
    of = CallerUsage(limits, counters, sums, "USD", ["customer"], lambda: NOW)
    return of.sums(caller, UsageQuery(TODAY - 1, TODAY, by, of_team))


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


def test_sums_are_by_day_and_model_in_whole_days():
    sums = Sums()
    answer = usage(sums=sums)["usage"]
    day = ("ann", "", (TODAY - 1) * 86_400.0, (TODAY + 1) * 86_400.0)
    assert sums.asked == [("day", *day), ("model", *day)]
    assert (answer["from"], answer["to"]) == ("2027-01-14", "2027-01-15")
    assert answer["days"] == [{"day": "x", "cost": {"USD": "0.25"}}]
    assert answer["models"] == [{"model": "x", "cost": {"USD": "0.25"}}]


def test_one_grouping_alone():
    sums = Sums()
    answer = usage(sums=sums, by="tag:customer")["usage"]
    assert [asked[0] for asked in sums.asked] == ["tag:customer"]
    assert (answer["by"], len(answer["rows"]), "days" in answer) == ("tag:customer", 1, False)


def test_the_sums_of_a_team_are_those_of_the_callers():
    sums = Sums()
    assert usage(sums=sums, of_team=True)["usage"]["of"] == {"team": "search"}
    assert {asked[1:3] for asked in sums.asked} == {("", "search")}


def test_requests_have_times_and_say_whether_there_are_more():
    of = CallerUsage(OwnLimits([], []), None, Sums(), "USD", clock=lambda: NOW)
    answer = of.requests(ANN, "", 2)
    assert answer["data"][0]["time"] == "2027-01-15T07:59:59.500000Z"
    assert (len(answer["data"]), answer["has_more"]) == (2, True)


def test_without_records_there_are_no_requests():
    of = CallerUsage(OwnLimits([], []), None, None, "USD")
    with pytest.raises(GatewayError) as raised:
        of.requests(ANN, "", 2)
    assert raised.value.status == 503


def test_an_id_that_the_token_does_not_have_is_invalid():
    of = CallerUsage(OwnLimits([], []), None, Sums(), "USD")
    with pytest.raises(GatewayError) as raised:
        of.requests(ANN, "other", 2)
    assert (raised.value.status, raised.value.code) == (400, "invalid_value")


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"counters": Counters(None)}, 503, "counters_unavailable"),
        ({"sums": Sums(DatabaseAway("away"))}, 503, "store_unavailable"),
        ({"caller": Caller("cid"), "of_team": True}, 400, "team_missing"),
        ({"by": "tag:other"}, 400, "invalid_value"),
    ],
)
def test_what_cannot_be_answered(more, status, code):
    with pytest.raises(GatewayError) as raised:
        usage(**more)
    assert (raised.value.status, raised.value.code) == (status, code)

"""The part of the report about callers: limits near their end, tokens that expire, teams."""

import json

import pytest
from msgspec.structs import replace

from engine.app.services.worker_services import services_of
from engine.console.operations.callers import CallerReport
from engine.stores.database.failures import DatabaseAway
from engine.values.caller import Caller
from engine.values.counters import CountersAway, TakeResult
from engine.values.quota import Quota
from tests.support.rehearsing import CONFIG, planned

NANO = 10**9
BUDGET = Quota("spend", 20 * NANO, 3600.0)


class Counters:
    """Of the limits of ann the most is used, of those of nobody nothing."""

    def __init__(self, away=False):
        self.away = away

    def take(self, limits, costs):
        if self.away:
            raise CountersAway("no connection")
        left = [limit.amount // 4 * (1 + _rank(limit.key)) for limit in limits]
        return TakeResult(None, left, [60.0] * len(costs))


def _rank(key):
    return next((n for n, name in enumerate(("ann", "ben", "cid")) if name in key), 3)


class Recorded:
    def __init__(self, *callers, error=None):
        self.callers, self.error = callers, error

    def first_to_expire(self, limit):
        if self.error:
            raise self.error
        return self.callers[:limit]


@pytest.fixture
def report(tmp_path):
    plan = planned(tmp_path, CONFIG).plan

    def make(**services):
        answer = CallerReport(plan, replace(services_of(plan), **services))()
        assert json.dumps(answer)
        return answer

    return make


def test_limits_of_which_most_is_used_are_first(report):
    callers = [Caller(name, limits=(BUDGET,), team="search") for name in ("ann", "ben", "cid")]
    rows = report(counters=Counters(), recorded_tokens=Recorded(*callers))["limits"]
    spent = [(row["by"], row["left"]) for row in rows if row["kind"] == "budget"]
    assert [by["token"] for by, _ in spent] == ["ann", "ben", "cid"]
    assert [left for _, left in spent] == ["5.00", "10.00", "15.00"]


def test_tokens_that_expire_are_listed_by_their_time(report):
    callers = [Caller("b", expires=9.0), Caller("a", expires=5.0, team="search"), Caller("c")]
    answer = report(recorded_tokens=Recorded(*callers))
    rows = [(row["name"], row["team"], row["in"]) for row in answer["tokens"]["expiring"]]
    assert rows[:2] == [("a", "search", "database"), ("b", None, "database")]
    assert answer["tokens"]["database"] == 3
    assert {"name": "search", "in": None, "tokens": 1} in answer["teams"]


def test_what_cannot_be_read_is_said(report):
    answer = report(
        counters=Counters(away=True), recorded_tokens=Recorded(error=DatabaseAway("no answer"))
    )
    assert answer["limits"] == []
    assert [text.partition(":")[0] for text in answer["problems"]] == [
        "The tokens of the database cannot be read",
        "Limits cannot be read",
    ]

"""The ledger as callers read it: what is cached, and how much one caller may ask at a time."""

import gevent
import pytest

from engine.callers.caller_usage import CallerLedger
from engine.stores.database.failures import DatabaseAway
from engine.stores.usage_query import UsageQuery
from engine.values.errors import GatewayError

QUERY = UsageQuery(10, 11)


class Sums:
    def __init__(self):
        self.asked, self.running, self.most = [], 0, 0

    def sums(self, by, token, team, since, until):
        self.asked.append((token, team))
        self.running += 1
        self.most = max(self.most, self.running)
        gevent.sleep(0)
        self.running -= 1
        return [{"cost": {}}]

    def requests(self, token, after, limit):
        raise DatabaseAway("away")


def test_sums_are_not_read_again_at_once():
    sums = Sums()
    ledger = CallerLedger(sums)
    for caller, team in (("ann", ""), ("ann", ""), ("ben", ""), ("ann", "search")):
        ledger.rows(caller, team, "day", QUERY)
    assert sums.asked == [("ann", ""), ("ben", ""), ("", "search")]


def test_one_query_of_a_caller_at_a_time():
    sums = Sums()
    ledger = CallerLedger(sums)
    queries = [UsageQuery(first, 11) for first in range(5)]
    gevent.joinall([gevent.spawn(ledger.rows, "ann", "", "day", each) for each in queries])
    assert (len(sums.asked), sums.most) == (5, 1)


def test_the_same_query_at_the_same_time_is_read_once():
    sums = Sums()
    ledger = CallerLedger(sums)
    gevent.joinall([gevent.spawn(ledger.rows, "ann", "", "day", QUERY) for _ in range(5)])
    assert len(sums.asked) == 1


def test_tags_with_too_many_values_are_the_mistake_of_the_caller():
    sums = Sums()
    sums.sums = lambda *_: None
    with pytest.raises(GatewayError) as raised:
        CallerLedger(sums).rows("ann", "", "tag:id", QUERY)
    assert (raised.value.status, raised.value.code) == (400, "too_many_values")


def test_a_failure_is_one_of_the_store():
    ledger = CallerLedger(Sums())
    for _ in range(2):  # the first one has left the caller its turn
        with pytest.raises(GatewayError) as raised:
            ledger.requests("ann", "", 2)
        assert (raised.value.status, raised.value.code) == (503, "store_unavailable")

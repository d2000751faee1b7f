"""Warnings are claimed in the counters: each is reported once in a window."""

from __future__ import annotations

import gevent
import pytest

from engine.callers.limits.limit_warnings import LimitWarnings, claim_of
from engine.stores.counters.memory import MemoryCounters
from engine.values.calendar import Calendar
from engine.values.counters import CountersAway, Limit, LimitWarning
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import shared_by
from tests.support.clock import MicrosecondClock

HOUR = 3600.0
BUDGET = QuotaRule(Quota("spend", 100, HOUR, (50, 80)), shared_by("team"), "team/spend/3600")


def warning(percent=80, sharer="search", window=HOUR):
    limit = Limit(f"{BUDGET.name}|{sharer}", 100, window)
    return LimitWarning(BUDGET, sharer, limit, percent, percent, 60.0)


class Report:
    """Notes what was decided of each warning."""

    def __init__(self):
        self.decisions = []

    def prepare(self, warning):
        return lambda is_first: self.decisions.append((warning.sharer, warning.percent, is_first))


class Away:
    def take(self, limits, costs):
        raise CountersAway("no connection")


@pytest.fixture
def clock():
    return MicrosecondClock()


@pytest.fixture
def counters(tmp_path, clock):
    store = MemoryCounters(tmp_path / "counters", clock=clock, wall_clock=clock)
    yield store
    store.close()


def pass_on(warnings, *each):
    for one in each:
        warnings(one)
    warnings.close()


def test_a_threshold_is_reported_once(counters):
    report = Report()
    warnings = LimitWarnings(counters, report)
    pass_on(warnings, warning(), warning(), warning(50), warning(sharer="ads"))
    assert report.decisions == [("search", 80, True), ("search", 50, True), ("ads", 80, True)]
    assert warnings.counts == {("budget", "team", "80"): 2, ("budget", "team", "50"): 1}


def test_another_worker_does_not_report_it_again(counters):
    first, second = Report(), Report()
    pass_on(LimitWarnings(counters, first), warning())
    later = LimitWarnings(counters, second)
    pass_on(later, warning())
    assert (first.decisions[0][2], second.decisions[0][2]) == (True, False)
    assert not later.counts


@pytest.mark.parametrize("window", [HOUR, Calendar("day")])
def test_the_next_window_is_reported_again(counters, clock, window):
    report = Report()
    pass_on(LimitWarnings(counters, report), warning(window=window))
    clock.now += 90_000 * 1_000_000
    pass_on(LimitWarnings(counters, report), warning(window=window))
    assert [is_first for *_, is_first in report.decisions] == [True, True]


def test_while_the_counters_are_away_a_warning_waits():
    report, now = Report(), [0.0]
    warnings = LimitWarnings(Away(), report, clock=lambda: now[0])
    pass_on(warnings, warning())
    pass_on(warnings, warning())
    assert report.decisions == [("search", 80, False)]
    now[0] = 6.0
    pass_on(warnings, warning())
    assert len(report.decisions) == 2


def test_what_waits_is_bounded(counters):
    report = Report()
    warnings = LimitWarnings(counters, report, queue_size=2)
    pass_on(warnings, *(warning(sharer=f"team-{at}") for at in range(5)))
    assert (len(report.decisions), warnings.dropped) == (2, 3)
    gevent.sleep(0)
    pass_on(warnings, warning(sharer="team-4"))
    assert report.decisions[-1] == ("team-4", 80, True)


def test_a_claim_lies_in_the_slot_of_its_limit():
    assert claim_of(warning()) == Limit("warned 80/team/spend/3600|search", 1, HOUR)

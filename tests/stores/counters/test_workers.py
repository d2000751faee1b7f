"""Several processes on the same counters, some of them killed."""

from __future__ import annotations

import time

import pytest

from tests.support.counters import Limit, open_store, take, workers
from tests.support.thorough import scale
from tests.support.waiting import until

SLOTS = [Limit("slots:held", 3, 0)]


@pytest.mark.parametrize(("hour", "month"), [(1000, 9000), (9000, 1000)])
def test_of_many_requests_through_four_workers_exactly_a_thousand_pass(place, hour, month):
    with workers(4, place, "passing", scale(300, 2500), hour, month) as four:
        assert sum(worker.says() for worker in four) == 1000


def test_workers_killed_during_an_update_leave_counts_consistent(place):
    """Each killed worker has taken one more of all limits, or of none."""
    kills = scale(6, 15)
    with workers(1, place, "killing", kills) as (nursery,):
        before = 0
        for _ in range(kills):
            rate, budget, month, slots = nursery.says()
            assert rate == budget == month > before
            before = rate
            if not isinstance(place, str):  # there the leases of killed workers have not expired
                assert slots <= 2


def test_slots_of_a_killed_worker_become_free_and_those_of_a_living_one_do_not(place):
    with open_store(place) as store, workers(2, place, "holding", 1, 3) as (killed, living):
        assert [killed.says(), living.says()] == [1, 1]
        result = take(store, SLOTS)
        assert (result.denied, result.remaining[0]) == (None, 0)
        assert take(store, SLOTS).denied == 0
        killed.kill()
        until(lambda: take(store, SLOTS).denied is None, "the slot of the killed worker")
        assert take(store, SLOTS).denied == 0


def test_slots_of_a_killed_worker_on_the_same_machine_are_free_at_once(path):
    with open_store(path) as store, workers(1, path, "holding", 3, 3) as (killed,):
        assert killed.says() == 3
        assert take(store, SLOTS).denied == 0
        killed.kill()
        assert take(store, [Limit("slots:held", 3, 0, 3)]).denied is None


def test_a_worker_that_lives_holds_its_slots_longer_than_a_lease(redis_url):
    with open_store(redis_url) as store, workers(1, redis_url, "holding", 3, 3) as (holder,):
        assert holder.says() == 3
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            assert take(store, SLOTS).denied == 0
            time.sleep(0.05)

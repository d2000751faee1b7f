"""Under load a worker takes ahead: what passes is the same, and nothing of it is lost."""

from __future__ import annotations

import os
import time
import uuid

import gevent
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.stores.counters.ahead import FEWEST, MARKED, MOST, OFTEN, SPAN, Ahead
from engine.stores.counters.memory import Memory
from tests.stores.counters.test_stores import Model
from tests.support.counters import Clock, Limit, left, take
from tests.support.small import until

RATE = Limit("rate:a", 100_000, 3600.0)
SLOTS = Limit("slots:a", 10_000, 0)
TOKENS = Limit("tokens:a", 10**9, 3600.0, 100)


class Counting(Memory):
    """Memory that knows how often it was asked."""

    asked = 0

    def take(self, asked, costs):
        self.asked += 1
        return super().take(asked, costs)


class Worker:
    """A worker's counters on a clock that a test turns, and what another worker sees."""

    def __init__(self, path):
        self.clock = Clock()
        self.memory = Counting(path, clock=self.clock)
        self.store = Ahead(self.memory, clock=self.clock)
        self.other = Memory(path, clock=self.clock)
        self.seen(SLOTS)  # from now on it is open, whoever else closes it

    def take(self, *limits, pause=0.001):
        self.clock.turn(pause)
        return take(self.store, limits)

    def often(self, count, *limits, pause=0.001):
        return [self.take(*limits, pause=pause) for _ in range(count)]

    def seen(self, *limits):
        """What another worker finds left."""
        return left(self.other, limits)


@pytest.fixture
def worker(path):
    made = Worker(path)
    yield made
    made.store.close()
    made.other.close()


def test_many_requests_ask_the_store_seldom_and_each_is_told_what_remains(worker):
    taken = worker.often(MOST + 1, RATE, SLOTS)
    assert worker.memory.asked <= 3
    assert [one.states[0].remaining for one in taken] == [99_999 - i for i in range(MOST + 1)]
    assert [one.states[1].remaining for one in taken] == [9_999 - i for i in range(MOST + 1)]
    assert all(one.states[0].reset == pytest.approx(3600, rel=1 / 30) for one in taken)
    worker.store.close()
    assert worker.seen(RATE, SLOTS) == [99_999 - MOST, 9_999 - MOST]


def test_few_requests_take_for_themselves(worker):
    worker.often(20, RATE, pause=OFTEN)
    assert worker.memory.asked == 20
    assert worker.seen(RATE) == [99_980]


@pytest.mark.parametrize("amount", [16 * FEWEST, 100])
def test_of_a_small_limit_nothing_is_taken_ahead(worker, amount):
    small = Limit("rate:small", amount, 3600.0)
    worker.often(20, small)
    assert worker.seen(small) == [amount - 20]


def test_when_less_than_half_is_left_nothing_is_taken_ahead(worker):
    take(worker.other, [RATE._replace(cost=60_000)])
    worker.often(20, RATE)
    assert worker.seen(RATE) == [39_980]


def test_little_is_taken_ahead_of_what_is_left(worker):
    limit = Limit("rate:some", 320, 3600.0)
    worker.often(3, limit)
    assert worker.seen(limit)[0] >= 319 - 319 // 16


def test_requests_for_nothing_are_asked_for_each(worker):
    taken = worker.often(5, RATE._replace(cost=0))
    assert [one.states[0].remaining for one in taken] == [100_000] * 5


def test_what_is_not_used_is_given_back_when_its_time_is_over(worker):
    worker.often(5, RATE, TOKENS, SLOTS)
    assert worker.seen(RATE)[0] < 99_995 - FEWEST
    worker.take(RATE, TOKENS, SLOTS, pause=SPAN)
    assert worker.seen(RATE, TOKENS, SLOTS) == [99_994, 10**9 - 600, 9_994]


def test_what_is_not_used_is_given_back_though_nobody_asks_again(path):
    store, other = Ahead(Memory(path)), Memory(path)
    for _ in range(5):
        take(store, [RATE])
    assert left(other, [RATE])[0] < 99_995
    gevent.sleep(SPAN)
    until(lambda: left(other, [RATE]) == [99_995] or gevent.sleep(0.01), "all is given back")
    store.close()
    other.close()


def test_closing_gives_back(worker):
    worker.often(5, RATE)
    worker.store.close()
    assert worker.seen(RATE) == [99_995]


def test_what_is_settled_is_in_hand_again(worker):
    taken = worker.often(4, RATE, TOKENS, SLOTS)
    for one in taken[2:]:
        worker.store.settle(one.receipt, [1, 30, 1])
        worker.store.settle(one.receipt, [0, 0, 0])
    assert [s.remaining for s in worker.take(RATE, TOKENS, SLOTS).states] == [
        99_995,
        10**9 - 360,
        9_997,
    ]
    worker.store.close()
    assert worker.seen(RATE, TOKENS, SLOTS) == [99_995, 10**9 - 360, 9_997]


def test_who_is_settled_late_is_corrected_in_the_store(worker):
    first, *_, last = worker.often(5, RATE, TOKENS, SLOTS)
    worker.take(RATE, TOKENS, SLOTS, pause=SPAN)
    worker.store.settle(last.receipt, [0, 7, 1])
    assert worker.seen(RATE, TOKENS, SLOTS) == [99_995, 10**9 - 507, 9_995]
    worker.store.settle(first.receipt, [1, 100_000, 1])
    assert worker.seen(RATE, TOKENS, SLOTS) == [99_995, 10**9 - 100_407, 9_996]


def test_more_than_is_in_hand_is_charged_at_once(worker):
    taken = worker.often(3, TOKENS)[-1]
    worker.store.settle(taken.receipt, [10**8])
    assert worker.seen(TOKENS) == [9 * 10**8 - 200]


def test_slots_in_use_stay_held_when_the_rest_is_given_back(worker):
    held = worker.often(5, SLOTS)
    worker.store.close()
    assert worker.seen(SLOTS) == [9_995]
    for one in held:
        worker.store.settle(one.receipt, [1])
    assert worker.seen(SLOTS) == [10_000]


def test_slots_that_come_back_are_not_asked_for_again(worker):
    for _ in range(10 * MOST):
        worker.store.settle(worker.take(RATE, SLOTS, pause=0.0001).receipt, [1, 1])
    assert worker.seen(SLOTS)[0] >= 10_000 - 2 * MOST
    worker.store.close()
    assert worker.seen(RATE, SLOTS) == [100_000 - 10 * MOST, 10_000]


def test_nothing_is_held_longer_than_a_window_counts_it(worker):
    short = Limit("rate:short", 100_000, 0.32)
    for _ in range(5):
        worker.often(4, short)
        worker.clock.turn(0.4)
        assert worker.seen(short) == [100_000]
        assert worker.take(short).states[0].remaining == 99_999


def test_limits_that_others_share_are_counted_together(worker):
    mine, shared = Limit("rate:mine", 10**6, 3600.0), Limit("rate:shared", 10**6, 3600.0)
    worker.often(10, mine, shared)
    worker.often(10, shared)
    worker.store.close()
    assert worker.seen(mine, shared) == [10**6 - 10, 10**6 - 20]


def test_who_is_denied_ends_what_this_worker_has_of_that_limit(worker):
    wide = Limit("rate:wide", 10**6, 3600.0)
    worker.often(10, wide, RATE)
    assert worker.take(RATE._replace(cost=99_990)).denied is None
    assert worker.take(RATE).denied == 0
    assert worker.seen(wide) == [10**6 - 10]


def test_who_is_denied_waits_for_what_another_worker_has_in_hand(path):
    one, other = Ahead(Memory(path)), Ahead(Memory(path))
    for _ in range(5):
        assert take(one, [RATE]).denied is None
    assert take(other, [RATE._replace(cost=99_995)]).denied is None
    assert take(other, [RATE]).denied == 0
    one.close()
    other.close()


def test_who_can_never_pass_waits_for_nobody(path):
    one, other = Ahead(Memory(path)), Ahead(Memory(path))
    for _ in range(5):
        take(one, [RATE])
    begun = time.monotonic()
    assert take(other, [RATE._replace(cost=100_001)]).denied == 0
    assert time.monotonic() - begun < SPAN / 2
    one.close()
    other.close()


def test_what_a_killed_worker_had_in_hand_is_waited_for_no_longer_than_its_mark(path):
    killed, other = Memory(path), Ahead(Memory(path))
    dead = Ahead(killed)
    for _ in range(5):
        take(dead, [RATE])
    dead.forget()
    begun = time.monotonic()
    assert take(other, [RATE._replace(cost=99_995)]).denied == 0
    assert SPAN < time.monotonic() - begun < MARKED + 2
    begun = time.monotonic()
    assert take(other, [RATE._replace(cost=99_995)]).denied == 0
    assert time.monotonic() - begun < SPAN / 2
    killed.close()
    other.close()


def test_a_child_has_nothing_of_its_parents_in_hand(worker):
    taken = worker.often(5, RATE)[-1]
    child = os.fork()
    if not child:
        worker.store.settle(taken.receipt, [0])
        worker.store.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    worker.store.close()
    assert worker.seen(RATE) == [99_995]


OPS = st.lists(
    st.tuples(
        st.sampled_from([0, 1_000, 1_000, 3_000, 30_000, 120_000, 2_000_000]),
        st.integers(0, 12),
        st.none() | st.integers(0, 14),
    ),
    max_size=80,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPS, st.integers(0, 1_200))
def test_any_requests_and_corrections_go_as_the_law_says(worker, asked, before):
    limit, window = Limit(uuid.uuid4().hex, 1_200, 32.0), 32.0
    model, open_ = Model(limit.amount, window), []
    for gap, cost, really in [(0, before, None), *asked]:
        worker.clock.now += gap
        now = worker.clock.now
        taken = take(worker.store, [limit._replace(cost=cost)])
        assert (taken.denied is None) == model.take(now, cost)[0]
        if taken.denied is None:
            open_.append((taken.receipt, now // model.tick, cost))
        if really is not None and open_:
            receipt, bucket, was = open_.pop()
            worker.store.settle(receipt, [really])
            if really != was:
                model.settle(now, bucket, really - was)
    worker.store.close()
    used = sum(model.live(worker.clock.now).values())
    assert worker.seen(limit) == [max(limit.amount - used, 0)]

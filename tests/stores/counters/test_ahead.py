"""Under load a worker takes ahead: what passes is the same, and nothing of it is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import time
import uuid

import gevent
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.stores.counters.ahead import Ahead
from engine.stores.counters.hand import (
    FEWEST,
    MARKED,
    MOST,
    OFTEN,
    SPAN,
)
from engine.stores.counters.memory import Memory
from tests.stores.counters.test_stores import Model
from tests.support.counters import ROOT, Clock, Limit, left, take
from tests.support.small import until

RATE = Limit("rate:a", 100_000, 3600.0)
SLOTS = Limit("slots:a", 10_000, 0)
TOKENS = Limit("tokens:a", 10**9, 3600.0, 100)


class Counting(Memory):
    """Memory that knows how often it was asked."""

    asked, broken = 0, False

    def take(self, asked, costs):
        self.asked += 1
        return super().take(asked, costs)

    def more(self, receipt, costs):
        self.asked += 1
        return super().more(receipt, costs)

    def correct(self, receipt, costs):
        if self.broken:
            return False
        return super().correct(receipt, costs)


class Worker:
    """A worker's counters on a clock that a test turns, and what another worker sees."""

    def __init__(self, path):
        self.clock, self.late = Clock(), 0
        self.memory = Counting(path, clock=lambda: self.clock() + self.late)
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
    assert [one.remaining[0] for one in taken] == [99_999 - i for i in range(MOST + 1)]
    assert [one.remaining[1] for one in taken] == [9_999 - i for i in range(MOST + 1)]
    assert all(one.resets[0] == pytest.approx(3600, rel=1 / 30) for one in taken)
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
    assert [one.remaining[0] for one in taken] == [100_000] * 5
    assert worker.memory.asked == 5


def test_what_is_not_used_is_given_back_when_its_time_is_over(worker):
    worker.often(5, RATE, TOKENS, SLOTS)
    assert worker.seen(RATE)[0] < 99_995 - FEWEST
    worker.take(RATE, TOKENS, SLOTS, pause=SPAN)
    assert worker.seen(RATE, TOKENS, SLOTS) == [99_994, 10**9 - 600, 9_994]


def test_what_is_not_used_is_given_back_though_nobody_asks_again(path):
    store, other = Ahead(Memory(path)), Memory(path)
    taken = 0
    while not store._hands:  # of two that come within 10 ms
        take(store, [RATE])
        taken += 1
    assert left(other, [RATE])[0] < 100_000 - taken
    until(
        lambda: left(other, [RATE]) == [100_000 - taken] or gevent.sleep(0.01), "all is given back"
    )
    until(lambda: store._timer is None or gevent.sleep(0.01), "nothing goes on")
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
    assert worker.take(RATE, TOKENS, SLOTS).remaining == [
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
        assert worker.take(short).remaining[0] == 99_999


def test_limits_that_others_share_are_counted_together(worker):
    mine, shared = Limit("rate:mine", 10**6, 3600.0), Limit("rate:shared", 10**6, 3600.0)
    worker.often(10, mine, shared)
    worker.often(10, shared)
    worker.store.close()
    assert worker.seen(mine, shared) == [10**6 - 10, 10**6 - 20]


def test_who_is_denied_ends_what_this_worker_has_of_that_limit(worker):
    wide, other = Limit("rate:wide", 10**6, 3600.0), Limit("rate:other", 10**6, 3600.0)
    worker.often(10, wide, RATE)
    worker.often(10, other)
    assert worker.take(RATE._replace(cost=99_990)).denied is None
    assert worker.take(RATE).denied == 0
    (ended, held) = worker.seen(wide, other)
    assert ended == 10**6 - 10
    assert held < 10**6 - 10


def test_who_goes_on_takes_ahead_over_and_over(worker):
    worker.often(300, RATE)
    assert worker.memory.asked < 30


def test_what_is_there_is_not_taken_again(worker):
    worker.often(3, RATE, TOKENS._replace(cost=900))
    worker.often(3 * MOST, RATE, TOKENS._replace(cost=1), pause=0.0001)
    assert worker.seen(TOKENS)[0] >= 10**9 - 900 * (MOST + 1) - 3 * MOST


def test_marks_say_how_much_is_in_hand_when_requests_grow(path):
    one, other = Ahead(Memory(path)), Ahead(Memory(path))
    for cost in (1, 1, 1, 1, 1, 1_000):
        assert take(one, [TOKENS._replace(amount=10**7, cost=cost)]).denied is None
    rest = TOKENS._replace(amount=10**7, cost=10**7 - 1_005)
    assert take(other, [rest]).denied is None
    one.close()
    other.close()


def test_who_is_denied_waits_for_what_another_worker_has_in_hand(path):
    one, other = Ahead(Memory(path)), Ahead(Memory(path))
    for _ in range(5):
        assert take(one, [RATE]).denied is None
    assert take(other, [RATE._replace(cost=99_995)]).denied is None
    assert take(other, [RATE]).denied == 0
    one.close()
    other.close()


@pytest.mark.parametrize("cost", [100_000, 100_001])
def test_nobody_waits_for_less_than_he_needs(worker, cost):
    one = Ahead(Memory(worker.memory._path, clock=worker.clock), clock=worker.clock)
    take(one, [RATE])
    worker.clock.turn(0.001)
    take(one, [RATE])
    assert worker.take(RATE._replace(cost=cost)).denied == 0
    assert worker.memory.asked == 2
    one.close()


def test_what_a_killed_worker_had_in_hand_is_waited_for_no_longer_than_its_mark(worker):
    dead = Ahead(Memory(worker.memory._path, clock=worker.clock), clock=worker.clock)
    take(dead, [RATE])
    worker.clock.turn(0.001)
    take(dead, [RATE])
    dead.forget()
    worker.clock.turn(MARKED * 1.1)
    assert worker.take(RATE._replace(cost=99_998)).denied == 0
    assert worker.memory.asked == 2


def test_a_child_has_nothing_of_its_parents_in_hand(worker):
    taken = worker.often(5, RATE)[-1]
    child = os.fork()
    if not child:
        worker.store.settle(taken.receipt, [0])
        worker.often(3, RATE)
        worker.store.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    worker.store.close()
    assert worker.seen(RATE) == [99_992]


def test_a_hand_counts_in_one_bucket_alone(worker):
    limit = Limit("rate:bucket", 100_000, 3.2)  # a tenth of a second is a bucket
    worker.clock.turn(0.095)
    worker.often(3, limit)
    worker.take(limit, pause=0.003)
    worker.store.close()
    assert worker.seen(limit) == [99_996]
    worker.clock.turn(3.3 - 0.101)
    assert worker.seen(limit) == [99_999]


def test_what_the_store_counts_in_another_bucket_is_another_hand(worker):
    limit = Limit("tokens:bucket", 10**6, 3.2, 10)
    worker.often(MOST + 1, limit, pause=0.0005)
    worker.late = 90_000  # it has waited for others so long
    worker.often(2 * MOST, limit, pause=0.0001)
    worker.store.close()
    assert worker.seen(limit) == [10**6 - 10 * (3 * MOST + 1)]


def test_requests_of_different_costs_are_counted_as_they_are(worker):
    total = 0
    for cost in (1, 1, 1, 900, 3, 5_000, *[7] * 100, 2, 9_000, *[80] * 100, 1):
        assert worker.take(TOKENS._replace(cost=cost)).denied is None
        total += cost
    worker.store.close()
    assert worker.seen(TOKENS) == [10**9 - total]


def test_where_another_took_the_rest_nothing_is_taken_ahead(worker):
    limit = Limit("rate:rest", 1_000, 3600.0)
    worker.take(limit)
    take(worker.other, [limit._replace(cost=990)])
    assert [one.denied for one in worker.often(11, limit)] == [None] * 9 + [0] * 2


def test_a_clock_set_back_ends_what_is_in_hand(worker):
    worker.often(5, RATE)
    before = worker.memory.asked
    worker.take(RATE, pause=-1.0)
    assert worker.memory.asked > before
    worker.store.close()
    assert worker.seen(RATE) == [99_994]


def test_only_what_is_over_is_given_back(worker):
    other = Limit("rate:b", 100_000, 3600.0)
    worker.often(5, RATE)
    worker.clock.turn(SPAN - 0.01)
    worker.often(5, other)
    worker.clock.turn(0.01)
    worker.store._end_the_old()
    (first, second) = worker.seen(RATE, other)
    assert first == 99_995
    assert second < 99_995


def test_short_windows_are_not_worth_it(worker):
    short = Limit("rate:short", 100_000, 0.25)
    worker.often(20, short)
    assert worker.memory.asked == 20


def test_nobody_waits_for_ever_for_what_stays_in_hand(worker):
    one = Ahead(Memory(worker.memory._path, clock=worker.clock), clock=worker.clock)
    worker.often(5, RATE)
    begun = time.monotonic()
    assert take(one, [RATE._replace(cost=99_990)]).denied == 0
    assert MARKED <= time.monotonic() - begun < MARKED + 2
    one.close()


def test_who_is_denied_over_and_over_asks_once_each(worker):
    full = Limit("rate:full", 5, 3600.0)
    worker.often(6, full)
    before = worker.memory.asked
    assert worker.take(full).denied == 0
    assert worker.memory.asked == before + 1
    worker.clock.turn(4000)
    assert worker.take(full).denied is None


def test_what_cannot_be_given_back_now_is_when_it_can(worker):
    first, *held = worker.often(5, RATE, SLOTS)
    worker.store.settle(first.receipt, [1, 1])  # it was taken for itself
    worker.memory.broken = True
    worker.take(RATE, SLOTS, pause=SPAN)
    for one in held:
        worker.store.settle(one.receipt, [1, 1])
    assert worker.seen(SLOTS)[0] < 9_994
    worker.memory.broken = False
    worker.store._end_the_old()
    assert worker.seen(RATE, SLOTS) == [99_994, 9_999]


@pytest.mark.parametrize(
    "counted", [[False] * 9, [True] * 2 + [False] * 9, [True] * 3 + [False] * 9]
)
def test_what_is_not_counted_is_not_in_hand(worker, monkeypatch, counted):
    """The memory for counters is full."""
    room = iter([*counted, *[True] * 10_000])
    monkeypatch.setattr(Memory, "_room", lambda *_: next(room))
    new = [Limit("rate:full", 10_000, 3600.0), Limit("slots:full", 10_000, 0)]
    taken = worker.often(3 * MOST, *new)
    assert all(one.denied is None for one in taken)
    assert all(one.remaining[0] <= 10_000 for one in taken)
    for one in taken:
        worker.store.settle(one.receipt, [0, 0])
    worker.store.close()
    assert worker.seen(*new) == [10_000, 10_000]


def test_of_a_database_that_was_removed_nothing_is_left_in_the_next(path, monkeypatch):
    now = 100.0
    monkeypatch.setattr("engine.stores.counters.memory.time.monotonic", lambda: now)
    store, other = Ahead(Memory(path)), Memory(path)
    taken = [take(store, [RATE, SLOTS]) for _ in range(5)]
    shutil.rmtree(path)
    now += 1.5
    taken += [take(store, [RATE, SLOTS]) for _ in range(2 * MOST)]
    for one in taken:
        store.settle(one.receipt, [1, 0])
    assert left(other, [SLOTS])[0] >= 10_000 - 2 * MOST
    store.close()
    assert left(other, [SLOTS]) == [10_000]
    other.close()


def test_in_a_child_nothing_of_its_parent_goes_on(path):
    """Also not its timer."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKS), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("99995\n", "")


FORKS = """
    import sys
    from pathlib import Path
    import gevent
    import gevent.os
    from engine.stores.counters.ahead import Ahead
    from engine.stores.counters.hand import SPAN
    from engine.stores.counters.memory import Memory
    from tests.support.counters import Limit, left, take

    rate = [Limit("rate:a", 100_000, 3600.0)]
    store, other = Ahead(Memory(Path(sys.argv[1]))), Memory(Path(sys.argv[1]))
    for _ in range(5):
        take(store, rate)
    child = gevent.os.fork_and_watch()
    gevent.sleep(3 * SPAN)
    if child:
        gevent.os.waitpid(child, 0)
        print(*left(other, rate))
"""


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

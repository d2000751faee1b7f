"""What every store of counters does alike."""

from __future__ import annotations

import uuid
from bisect import bisect
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.stores.counters import calendars
from engine.stores.counters.windows import BUCKETS, tick_of
from engine.values.calendar import Calendar
from engine.values.counters import SLOT_RETRY, LimitState
from tests.support.counters import SECOND, Limit
from tests.support.thorough import examples


def rate(amount=3, window=60.0, cost=1, key="rate:a"):
    return Limit(key, amount, window, cost)


def slots(amount=2, cost=1, key="slots:a"):
    return Limit(key, amount, 0, cost)


def test_exactly_the_amount_passes(bench):
    assert [bench.passes(rate(5)) for _ in range(7)] == [True] * 5 + [False] * 2


def test_a_result_has_the_remaining_amounts_and_the_limit_that_denied(bench):
    first = bench.take(rate(2), rate(9, 3600.0, 4))
    assert first.denied is None
    assert first.remaining == [1, 5]
    bench.take(rate(2), rate(9, 3600.0, 4))
    denied = bench.take(rate(2), rate(9, 3600.0, 4))
    assert (denied.denied, denied.receipt) == (0, None)
    assert denied.remaining == [0, 1]
    assert denied.waits[0] == pytest.approx(60, rel=1 / BUCKETS)
    assert denied.waits[1] == pytest.approx(3600, rel=1 / BUCKETS)


def test_either_all_limits_are_taken_or_none(bench):
    bench.take(rate(1, key="full"))
    slot_limit = slots(5)
    assert bench.take(rate(9, key="first"), slot_limit, rate(1, key="full")).denied == 2
    result = bench.take(rate(9, 60.0, 0, "first"), slots(5, 0))
    assert result.remaining == [9, 5]


@pytest.mark.parametrize("cost", [2, 3, 10**15])
def test_a_cost_above_what_is_left_is_denied_and_less_passes(bench, cost):
    bench.take(rate(cost, cost=cost - 1))
    assert not bench.passes(rate(cost, cost=2))
    assert bench.passes(rate(cost, cost=1))
    assert not bench.passes(rate(cost, cost=1))


def test_a_cost_of_nothing_passes_as_long_as_something_is_left(bench):
    assert bench.passes(rate(1, cost=0))
    assert bench.passes(rate(1, cost=0))
    bench.take(rate(1))
    assert not bench.passes(rate(1, cost=0))


def test_a_cost_above_the_amount_waits_the_whole_window(bench):
    result = bench.take(rate(5, 64.0, 6))
    assert (result.denied, result.waits[0]) == (0, 64.0)


def test_an_unused_limit_is_fully_available(bench):
    result = bench.take(rate(5, cost=0))
    assert (result.remaining, result.resets, result.waits) == ([5], [0.0], ())


@pytest.mark.parametrize("window", [32.0, 60.0, 90 * 86400.0])
def test_a_window_slides(bench, window):
    bench.take(rate(4, window, 2))
    bench.clock.advance(window / 2)
    bench.take(rate(4, window, 2))
    bench.clock.advance(window / 2 - 0.001)
    assert not bench.passes(rate(4, window))
    bench.clock.advance(window / BUCKETS + 0.002)
    assert bench.passes(rate(4, window, 2))
    assert not bench.passes(rate(4, window))


def test_limits_of_other_windows_or_keys_do_not_share(bench):
    assert bench.passes(rate(1, 60.0))
    assert bench.passes(rate(1, 61.0))
    assert bench.passes(rate(1, 60.0, key="rate:b"))
    assert not bench.passes(rate(1, 60.0))


def test_the_same_limit_twice_in_a_request_counts_twice(bench):
    assert bench.take(rate(3, cost=2), rate(3, cost=2)).denied == 1
    result = bench.take(rate(4, cost=2), rate(4, cost=2))
    assert result.denied is None
    assert not bench.passes(rate(4))
    bench.settle(result.receipt, 0, 0)
    assert bench.take(rate(4, cost=0)).remaining[0] == 4


def test_the_same_limit_twice_in_a_denied_request_counts_not_at_all(bench):
    bench.take(rate(1, key="full"))
    assert bench.take(rate(9), rate(9), slots(9), slots(9), rate(1, key="full")).denied == 4
    result = bench.take(rate(9, cost=0), slots(9, 0))
    assert result.remaining == [9, 9]


def test_keys_may_be_long_and_of_any_language(bench):
    for key in ("x" * 5000, "x" * 4999 + "y", "schlüssel {modelway}\n\0:*", "钥匙" * 300):
        assert bench.passes(rate(1, key=key))
        assert not bench.passes(rate(1, key=key))


def test_many_keys_do_not_disturb_each_other(bench):
    for turn in range(2):
        for caller in range(500):
            assert bench.passes(rate(2, key=f"caller-{caller}")), (turn, caller)
    assert not any(bench.passes(rate(2, key=f"caller-{caller}")) for caller in range(500))


def test_a_refund_is_available_again(bench):
    result = bench.take(rate(5, cost=5))
    assert not bench.passes(rate(5))
    bench.settle(result.receipt, 0)
    result = bench.take(rate(5, cost=0))
    assert (result.remaining, result.resets) == ([5], [0.0])


def test_a_receipt_settles_once(bench):
    result = bench.take(rate(10, cost=5), slots(2))
    bench.take(rate(10, cost=5), slots(2))
    for _ in range(3):
        bench.settle(result.receipt, 1, 1)
    assert bench.take(rate(10, cost=0), slots(2, 0)).remaining == [4, 1]


def test_the_receipt_of_a_denied_request_settles_nothing(bench):
    bench.take(rate(1))
    bench.settle(bench.take(rate(1)).receipt, 0)
    assert not bench.passes(rate(1))


def test_a_charge_above_the_amount_denies_the_next_request(bench):
    result = bench.take(rate(10, cost=1))
    bench.settle(result.receipt, 25)
    result = bench.take(rate(10))
    assert (result.denied, result.remaining[0]) == (0, 0)
    bench.clock.advance(62)
    assert bench.passes(rate(10, cost=10))


def test_a_correction_counts_from_when_it_was_taken(bench):
    result = bench.take(rate(10, 64.0, 5))
    bench.clock.advance(32)
    bench.settle(result.receipt, 9)
    assert not bench.passes(rate(10, 64.0, 2))
    bench.clock.advance(34)
    assert bench.passes(rate(10, 64.0, 10))


@pytest.mark.parametrize(("cost", "remains"), [(2, 10), (8, 7)])
def test_after_its_window_a_higher_cost_is_charged_and_a_lower_one_refunds_nothing(
    bench, cost, remains
):
    result = bench.take(rate(10, 64.0, 5))
    bench.clock.advance(200)
    bench.settle(result.receipt, cost)
    assert bench.take(rate(10, 64.0, 0)).remaining[0] == remains


def test_slots_are_held_until_they_are_given_back(bench):
    first = bench.take(slots(2))
    second = bench.take(slots(2))
    assert [first.remaining[0], second.remaining[0]] == [1, 0]
    denied = bench.take(slots(2))
    assert (denied.denied, denied.waits[0]) == (0, SLOT_RETRY)
    bench.settle(first.receipt, 1)
    assert bench.passes(slots(2))
    assert not bench.passes(slots(2))


def test_slots_of_several_at_once(bench):
    result = bench.take(slots(5, 3))
    assert not bench.passes(slots(5, 3))
    assert bench.passes(slots(5, 2))
    bench.settle(result.receipt, 0)
    assert bench.passes(slots(5, 3))


@pytest.mark.parametrize("back", [5, 3600])
def test_a_clock_set_back_denies_for_a_window_at_most(bench, back):
    bench.take(rate(2, cost=2))
    bench.clock.advance(-back)
    assert not bench.passes(rate(2))
    bench.clock.advance(62)
    assert bench.passes(rate(2, cost=2))


class Model:
    """A window as the law of `windows` says it, with everything kept."""

    def __init__(self, amount: int, window: float) -> None:
        self.amount, self.tick = amount, tick_of(window)
        self.counts: dict[int, int] = {}

    def live(self, now: int) -> dict[int, int]:
        bucket = now // self.tick
        return {at: n for at, n in self.counts.items() if bucket - at <= BUCKETS and n}

    def take(self, now: int, cost: int) -> tuple[bool, int, int, int]:
        """Whether it passes, what remains, microseconds to reset and wait."""
        live, bucket = self.live(now), now // self.tick
        total = sum(live.values())
        need = max(cost, 1)
        passes = total + need <= self.amount
        if passes and cost:
            self.counts[bucket] = self.counts.get(bucket, 0) + cost
            live, total = self.live(now), total + cost
        reset = (max(live) + BUCKETS + 1) * self.tick - now if live else 0
        wait = 0
        if not passes:
            sums, ats = [], sorted(live)
            for at in ats:
                sums.append((sums[-1] if sums else 0) + live[at])
            frees = bisect(sums, total + need - self.amount - 1)
            never = need > self.amount
            wait = BUCKETS * self.tick if never else (ats[frees] + BUCKETS + 1) * self.tick - now
        return passes, max(self.amount - total, 0), reset, wait

    def settle(self, now: int, result: int, by: int) -> None:
        live = self.live(now)
        at = result if result in live or by < 0 else now // self.tick
        if at in live or by > 0:
            self.counts[at] = max(live.get(at, 0) + by, 0)


OPS = st.lists(
    st.tuples(st.integers(0, 9 * SECOND), st.integers(0, 12), st.none() | st.integers(0, 20)),
    max_size=40,
)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPS)
def test_any_requests_and_corrections_agree_with_the_model(bench, requests):
    key, window = uuid.uuid4().hex, 32.0
    model, receipts = Model(20, window), []
    for gap, cost, really in requests:
        bench.clock.now += gap
        now = bench.clock.now
        result = bench.take(rate(20, window, cost, key))
        passes, remaining, reset, wait = model.take(now, cost)
        assert (result.denied is None) == passes
        assert result.remaining == [remaining]
        assert result.resets == pytest.approx([reset / SECOND])
        assert result.waits == (() if passes else pytest.approx([wait / SECOND]))
        if passes:
            receipts.append((result.receipt, now // model.tick, cost))
        if really is not None and receipts:
            receipt, bucket, was = receipts.pop(0)
            bench.settle(receipt, really)
            if really != was:
                model.settle(now, bucket, really - was)


VIENNA = Calendar("month", "Europe/Vienna")


def month(amount=3, cost=1, key="money:a", window=VIENNA):
    return Limit(key, amount, window, cost)


def at(bench, text):
    """Set the clock to a local time of Vienna."""
    local = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("Europe/Vienna"))
    bench.clock.now = round(local.timestamp() * SECOND)


def test_a_month_ends_at_local_midnight(bench):
    at(bench, "2026-10-01T00:00:00")
    assert bench.take(month(cost=3)).resets == [31 * 86_400.0 + 3600]  # the clocks change within it
    at(bench, "2026-10-31T23:59:59")
    denied = bench.take(month(), rate())
    assert (denied.denied, denied.remaining, denied.waits[0]) == (0, [0, 3], 1.0)
    at(bench, "2026-11-01T00:00:00")
    assert bench.passes(month(cost=3))


def test_windows_of_the_calendar_and_other_limits_are_taken_together_or_not_at_all(bench):
    result = bench.take(month(5, 2), rate(5, cost=3), slots())
    assert result.remaining == [3, 2, 1]
    assert bench.take(month(5, 2), rate(5, cost=3), slots()).denied == 1
    bench.settle(result.receipt, 1, 1, 1)
    assert bench.take(month(5, 0), rate(5, cost=0), slots(cost=0)).remaining == [4, 4, 2]


def test_another_time_zone_has_the_same_count(bench):
    bench.take(month(cost=2))
    assert bench.take(month(window=Calendar("month"))).remaining == [0]
    assert bench.passes(month(window=Calendar("day")))


def test_a_look_after_a_month_does_not_forget_it(bench):
    at(bench, "2026-10-31T12:00:00")
    bench.take(month(cost=2))
    at(bench, "2026-11-01T00:30:00")
    assert bench.take(month(cost=0)).remaining == [3]
    assert bench.take(month(cost=0, window=Calendar("month", "Pacific/Niue"))).remaining == [1]


def test_the_same_month_twice_in_a_request_counts_twice(bench):
    assert bench.take(month(3, 2), month(3, 2)).denied == 1
    result = bench.take(month(4, 2), month(4, 2))
    assert result.denied is None
    bench.settle(result.receipt, 0, 0)
    assert bench.take(month(4, 0)).remaining == [4]


@pytest.mark.parametrize(("cost", "remains"), [(2, 10), (8, 7)])
def test_after_its_month_a_higher_cost_is_charged_and_a_lower_one_refunds_nothing(
    bench, cost, remains
):
    at(bench, "2026-10-31T23:59:59")
    result = bench.take(month(10, 5))
    bench.clock.advance(1)
    bench.settle(result.receipt, cost)
    assert bench.take(month(10, 0)).remaining == [remains]


def test_a_cost_above_the_amount_of_a_month_waits_the_whole_month(bench):
    at(bench, "2026-11-23T12:00:00")
    result = bench.take(month(5, 6))
    assert (result.denied, result.waits[0]) == (0, 30 * 86_400.0)


CALENDAR_OPS = st.lists(
    st.tuples(
        st.integers(0, 20 * 3600 * SECOND),
        st.integers(0, 12),
        st.none() | st.integers(0, 20),
        st.sampled_from(["UTC", "Europe/Vienna", "Pacific/Kiritimati"]),
    ),
    max_size=40,
)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALENDAR_OPS)
def test_any_requests_in_windows_of_the_calendar_agree_with_the_record(bench, requests):
    key, record, receipts = uuid.uuid4().hex, None, []
    for gap, cost, really, zone in requests:
        bench.clock.now += gap
        rule, now = Calendar("day", zone), bench.clock.now
        arguments = record, 20, cost, rule.window(now), now
        result, update = bench.take(Limit(key, 20, rule, cost)), calendars.take(*arguments)
        state = calendars.look(*arguments) if update is None else LimitState(*update[1:])
        assert (result.denied is None) == (update is not None)
        assert (result.remaining, result.resets) == ([state.remaining], [state.reset])
        assert result.waits == ([state.wait] if update is None else ())
        if update is not None:
            record = update[0]
            start = calendars.start_of(record, *arguments[3:])
            receipts.append((result.receipt, start, cost, rule))
        if really is not None and receipts:
            receipt, start, was, rule = receipts.pop(0)
            bench.settle(receipt, really)
            if really != was:
                change = really - was
                record = calendars.correct(record, rule.window(now), now, start, change)


@pytest.mark.parametrize("window", [3600.0, VIENNA], ids=str)
def test_estimates_that_were_too_high_leave_the_whole_amount_to_those_who_come_later(bench, window):
    """A limit that refuses at two thirds of its amount is a complaint about other gateways."""
    amount, estimate, cost = 1000, 50, 7
    passed = 0
    while (result := bench.take(Limit("money", amount, window, estimate))).denied is None:
        bench.settle(result.receipt, cost)
        passed += 1
    assert amount - estimate < passed * cost <= amount
    assert bench.take(Limit("money", amount, window, 1)).remaining == [amount - passed * cost - 1]

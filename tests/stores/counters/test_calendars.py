"""The record of a window of the calendar, through changes of the time zone and of the clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.stores.counters import calendars
from engine.stores.counters.calendars import Window
from engine.values.calendar import PERIODS, SECOND, Calendar
from engine.values.counters import LimitState

DAY = 86_400 * SECOND
ZONES = ["UTC", "Europe/Vienna", "Pacific/Kiritimati", "Pacific/Niue", "America/St_Johns"]
JANUARY, FEBRUARY, MARCH = (
    int(datetime(2026, month, 1, tzinfo=UTC).timestamp()) * SECOND for month in (1, 2, 3)
)
MONTH = JANUARY, FEBRUARY
AMOUNT = 20


def vienna(month: int) -> Window:
    """A month of winter in Vienna, which begins an hour earlier."""
    start, end = {1: MONTH, 2: (FEBRUARY, MARCH)}[month]
    return start - DAY // 24, end - DAY // 24


def take(record: bytes | None, cost: int, window: Window, now: int) -> bytes:
    update = calendars.take(record, AMOUNT, cost, window, now)
    assert update is not None
    return update[0]


def remaining(record: bytes | None, window: Window, now: int) -> int:
    return calendars.look(record, AMOUNT, 0, window, now).remaining


def test_the_amount_passes_within_a_window_and_again_in_the_next():
    record = take(None, AMOUNT, MONTH, JANUARY)
    assert calendars.take(record, AMOUNT, 1, MONTH, FEBRUARY - 1) is None
    assert remaining(record, (FEBRUARY, MARCH), FEBRUARY) == AMOUNT


def test_a_reset_is_the_end_of_the_window():
    update = calendars.take(None, AMOUNT, 5, MONTH, FEBRUARY - 90 * SECOND)
    assert update is not None
    assert update[1:] == (15, 90.0)


@pytest.mark.parametrize(("cost", "wait"), [(0, 0.0), (5, 0.0), (6, 90.0), (21, 31 * 86_400.0)])
def test_the_wait_is_to_the_end_of_the_window_and_the_whole_window_if_it_is_too_much(cost, wait):
    record, now = take(None, 15, MONTH, JANUARY), FEBRUARY - 90 * SECOND
    assert calendars.look(record, AMOUNT, cost, MONTH, now) == LimitState(5, 90.0, wait)


def test_a_cost_of_nothing_passes_while_something_is_left():
    assert calendars.take(take(None, 19, MONTH, JANUARY), AMOUNT, 0, MONTH, JANUARY) is not None
    assert calendars.take(take(None, 20, MONTH, JANUARY), AMOUNT, 0, MONTH, JANUARY) is None


def test_another_time_zone_keeps_the_count_of_the_running_window():
    record = take(None, 15, MONTH, JANUARY + DAY)
    assert remaining(record, vienna(1), JANUARY + 2 * DAY) == 5


def test_a_window_does_not_end_before_it_ended_in_the_time_zone_in_which_it_began():
    record = take(None, 15, MONTH, JANUARY)
    in_february_of_vienna = FEBRUARY - 1
    assert remaining(record, vienna(2), in_february_of_vienna) == 5
    assert remaining(record, vienna(2), FEBRUARY) == AMOUNT


def test_a_window_does_not_end_before_it_ended_in_the_present_time_zone():
    record = take(None, 15, vienna(1), JANUARY)
    in_february_of_vienna = FEBRUARY - 1
    assert remaining(record, MONTH, in_february_of_vienna) == 5
    assert remaining(record, (FEBRUARY, MARCH), FEBRUARY) == AMOUNT


def test_changing_the_time_zone_to_and_fro_gives_nothing_twice():
    record = take(None, AMOUNT, MONTH, JANUARY)
    for now in range(FEBRUARY - DAY // 24, FEBRUARY, DAY // 240):
        for window in (MONTH, vienna(2)):
            assert calendars.take(record, AMOUNT, 1, window, now) is None


def test_a_small_step_back_of_the_clock_stays_in_the_window_that_has_begun():
    record = take(None, 15, (FEBRUARY, MARCH), FEBRUARY)
    record = take(record, 5, MONTH, FEBRUARY - 1)
    assert remaining(record, (FEBRUARY, MARCH), FEBRUARY) == 0


def test_a_clock_that_was_far_ahead_denies_for_one_window():
    record = take(None, AMOUNT, (MARCH + 400 * DAY, MARCH + 430 * DAY), MARCH + 401 * DAY)
    assert remaining(record, MONTH, JANUARY) == 0
    record = calendars.correct(record, MONTH, JANUARY, 0, 1)
    assert remaining(record, (FEBRUARY, MARCH), FEBRUARY) == AMOUNT


@pytest.mark.parametrize(
    ("now", "change", "remains"),
    [(JANUARY + DAY, -5, 10), (JANUARY + DAY, 7, 0), (FEBRUARY, -5, 20), (FEBRUARY, 7, 13)],
)
def test_a_correction_counts_in_its_window_or_an_increase_in_the_present_one(now, change, remains):
    record = take(None, 15, MONTH, JANUARY)
    window = MONTH if now < FEBRUARY else (FEBRUARY, MARCH)
    record = calendars.correct(record, window, now, JANUARY, change)
    assert remaining(record, window, now) == remains


def test_a_refund_of_a_window_that_has_ended_is_not_one_of_the_next():
    record, later = take(None, 15, MONTH, JANUARY), (FEBRUARY, MARCH)
    record = take(record, 3, later, FEBRUARY)
    record = calendars.correct(record, later, FEBRUARY, JANUARY, -15)
    assert remaining(record, later, FEBRUARY) == 17


def test_a_refund_that_comes_too_late_leaves_the_record_as_it_is():
    record = take(None, 3, vienna(2), FEBRUARY)
    assert calendars.correct(record, (FEBRUARY, MARCH), FEBRUARY, JANUARY, -15) == record


def test_a_record_that_is_corrected_to_nothing_is_none():
    record = take(None, 15, MONTH, JANUARY)
    assert calendars.correct(record, MONTH, JANUARY, JANUARY, -15) is None


def test_a_record_expires_when_its_window_cannot_count_in_any_time_zone():
    record = take(None, 15, MONTH, JANUARY)
    assert not calendars.is_expired(record, FEBRUARY + 30 * DAY)
    assert calendars.is_expired(record, FEBRUARY + 31 * DAY)


STEPS = st.lists(
    st.tuples(st.floats(0, 1.4), st.integers(0, 12), st.sampled_from(ZONES)), max_size=60
)


@given(st.sampled_from(list(PERIODS)), st.sampled_from(ZONES), STEPS)
def test_never_more_than_the_amount_passes_in_a_window(period, zone, steps):
    rule, record, now = Calendar(period, zone), None, JANUARY
    passed: dict[Window, int] = {}
    for part, cost, _ in steps:
        now += int(part * part * rule.seconds * SECOND)
        window = rule.window(now)
        update = calendars.take(record, AMOUNT, cost, window, now)
        used = passed.get(window, 0)
        assert (update is not None) == (used + max(cost, 1) <= AMOUNT)
        if update is not None:
            record = update[0]
            passed[window] = used + cost


@given(st.sampled_from(list(PERIODS)), STEPS)
def test_whenever_the_time_zone_changes_windows_follow_each_other_and_none_is_short(period, steps):
    record, now, windows = None, JANUARY, []
    least = {"day": 0.5, "week": 3.5, "month": 14}[period] * DAY - DAY // 24
    for part, cost, zone in steps:
        rule = Calendar(period, zone)
        now += int(part * part * rule.seconds * SECOND)
        update = calendars.take(record, AMOUNT, cost, rule.window(now), now)
        total, start, end = calendars.read(record, rule.window(now), now)
        assert (update is not None) == (total + max(cost, 1) <= AMOUNT)
        assert now < end
        if update is None:
            continue
        record = update[0]
        if not total + cost:  # nothing counts: no window has begun
            continue
        if windows and windows[-1][0] == start:
            assert end >= windows[-1][1]
            windows.pop()
        elif windows:
            assert now >= windows[-1][1]
            assert end - windows[-1][1] >= least
        windows.append((start, end))


def test_a_request_that_costs_nothing_leaves_no_window_and_forgets_none():
    """The window of January in UTC is, from its end on, that of the same month in Niue."""
    assert calendars.take(None, AMOUNT, 0, MONTH, JANUARY) == (None, AMOUNT, 31 * 86_400.0)
    record = take(None, 15, MONTH, JANUARY)
    assert take(record, 0, (FEBRUARY, MARCH), FEBRUARY) == record
    niue = Calendar("month", "Pacific/Niue").window(FEBRUARY)
    assert remaining(record, niue, FEBRUARY) == 5


def test_a_request_counts_in_the_window_that_it_names():
    record = take(None, 15, MONTH, JANUARY)
    assert calendars.start_of(record, vienna(1), JANUARY) == JANUARY
    assert calendars.start_of(record, (FEBRUARY, MARCH), FEBRUARY) == FEBRUARY

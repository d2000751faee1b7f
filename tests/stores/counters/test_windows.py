"""The record of a window, against a plain log of everything that passed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.stores.counters import windows
from engine.values.counters import LimitState

NOW = 1_700_000_000_000_000
SECOND = 1_000_000


def take(record, amount, cost, window, now):
    """The record, None when it is denied, and how it stands then."""
    arguments = amount, cost, windows.tick_of(window), now
    update = windows.take(record, *arguments)
    if update is None:
        return None, windows.look(record, *arguments)
    return update[0], LimitState(*update[1:])


@given(
    st.sampled_from([0.001, 0.5, 1.0, 7.3, 60.0, 90 * 86400.0]),
    st.integers(1, 20),
    st.lists(st.tuples(st.floats(0, 1.2), st.integers(0, 12)), max_size=60),
)
def test_never_more_than_the_amount_passes_in_any_window(window, amount, arguments):
    log, record, now = [], None, NOW
    for part, cost in arguments:
        now += int(part * part * window * SECOND)
        after, _ = take(record, amount, cost, window, now)
        if after is not None:
            record = after
            log.append((now, cost))
    for end, _ in log:
        within = [cost for at, cost in log if end - window * SECOND < at <= end]
        assert sum(within) <= amount


@given(
    st.sampled_from([0.5, 7.3, 60.0, 90 * 86400.0]),
    st.lists(st.tuples(st.floats(0, 1.2), st.integers(1, 12)), max_size=60),
)
def test_a_denial_is_at_most_one_bucket_stricter_than_an_exact_log(window, arguments):
    amount, log, record, now = 20, [], None, NOW
    tick = windows.tick_of(window)
    for part, cost in arguments:
        now += int(part * part * window * SECOND)
        after, state = take(record, amount, cost, window, now)
        if after is None:
            within = sum(c for at, c in log if now - at < (windows.BUCKETS + 1) * tick)
            assert within + cost > amount
            assert state.wait > 0
        else:
            record = after
            log.append((now, cost))


@given(st.lists(st.tuples(st.integers(0, 5 * SECOND), st.integers(1, 20)), max_size=40))
def test_a_request_passes_after_the_wait_and_not_a_microsecond_sooner(arguments):
    amount, record, now, window = 20, None, NOW, 10.0
    for gap, cost in arguments:
        now += gap
        after, state = take(record, amount, cost, window, now)
        if after is None:
            then = now + round(state.wait * SECOND)
            assert take(record, amount, cost, window, then - 1)[0] is None
            assert take(record, amount, cost, window, then)[0] is not None
        else:
            record = after


@given(st.lists(st.tuples(st.integers(0, 5 * SECOND), st.integers(1, 9)), min_size=1, max_size=40))
def test_the_full_amount_is_available_after_the_reset_and_not_before(arguments):
    record, now = None, NOW
    for gap, cost in arguments:
        now += gap
        record, state = take(record, 10**15, cost, 10.0, now)
    tick = windows.tick_of(10.0)
    then = now + round(state.reset * SECOND)
    assert windows.read(record, (then - 1) // tick)[0] > 0
    assert windows.read(record, then // tick)[0] == 0


def test_a_record_stays_small_however_much_is_taken():
    record, now = None, NOW
    for _ in range(10_000):
        now += 90 * 86400 * SECOND // 3000
        record, _ = take(record, 10**15, 10**10, 90 * 86400.0, now)
    assert len(record) <= 312


def test_no_double_burst_at_the_edge_of_a_window():
    edge = NOW // (60 * SECOND) * 60 * SECOND
    record, _ = take(None, 100, 100, 60.0, edge - 1)
    assert take(record, 100, 1, 60.0, edge + 1)[0] is None
    assert take(record, 100, 1, 60.0, edge + 59 * SECOND)[0] is None
    assert take(record, 100, 100, 60.0, edge + 62 * SECOND)[0] is not None


@pytest.mark.parametrize("back", [1, 30, 61, 3600, 10**6])
def test_a_clock_set_back_denies_for_one_window_and_not_for_ever(back):
    record, _ = take(None, 5, 5, 60.0, NOW)
    then = NOW - back * SECOND
    denied, state = take(record, 5, 1, 60.0, then)
    assert denied is None
    assert 0 < state.wait <= 62
    record = windows.correct(record, then // windows.tick_of(60.0), 0, 0)
    assert take(record, 5, 5, 60.0, then + 62 * SECOND)[0] is not None


@given(st.integers(1, 5000))
def test_after_a_clock_is_set_back_all_counts_as_taken_now(back):
    record, _ = take(None, 9, 3, 32.0, NOW)
    record, _ = take(record, 9, 2, 32.0, NOW + 10 * SECOND)
    bucket = NOW // SECOND + 10 - back
    record = windows.set_back(record, bucket)
    assert [windows.read(record, bucket + age)[0] for age in (0, 1, 32, 33)] == [5, 5, 5, 0]
    assert windows.set_back(record, bucket) is None


@pytest.mark.parametrize("age", [-80, -1, 0, 1, 22, 23, 31, 32, 33, 34, 80])
@pytest.mark.parametrize("costs", [(2, 0), (0, 3), (2, 3)])
@pytest.mark.parametrize("is_corrected", [False, True])
def test_a_sweep_keeps_what_counts_and_drops_what_does_not(age, costs, is_corrected):
    earlier, later = costs
    record, _ = take(None, 9, earlier, 32.0, NOW)
    record, _ = take(record, 9, later, 32.0, NOW + 10 * SECOND)
    newest = NOW // SECOND + 10
    if is_corrected:  # the newest bucket is empty
        record = windows.correct(record, newest, newest, -later) or record
    bucket = newest + age
    total = windows.read(record, bucket)[0]
    swept = windows.sweep(record, bucket)
    assert swept == ((windows.set_back(record, bucket) or record) if total else None)


@pytest.mark.parametrize(
    ("age", "by", "total"),
    [
        (-10, -3, 2),
        (-10, 4, 9),
        (0, -9, 0),
        (0, -3, 2),
        (0, 4, 9),
        (10, -3, 2),
        (10, 4, 9),
        (10, -9, 0),
        (40, -3, 0),
        (40, 4, 4),
    ],
)
def test_a_correction_counts_where_it_was_taken_or_now(age, by, total):
    tick = windows.tick_of(32.0)
    bucket = NOW // tick
    record, _ = take(None, 100, 5, 32.0, NOW)
    corrected = windows.correct(record, bucket + age, bucket, by)
    assert windows.read(corrected, bucket + age)[0] == total
    counts_until = bucket + 33 if age <= 32 else bucket + age + 33
    assert windows.read(corrected, counts_until)[0] == 0
    assert (corrected is None) == (total == 0)


def test_a_correction_is_not_mistaken_for_one_256_buckets_later():
    tick = windows.tick_of(32.0)
    bucket = NOW // tick
    record, _ = take(None, 100, 5, 32.0, NOW)
    record, _ = take(record, 100, 7, 32.0, NOW + 256 * tick)
    record, _ = take(record, 100, 1, 32.0, NOW + 260 * tick)
    corrected = windows.correct(record, bucket + 260, bucket, -5)
    assert windows.read(corrected, bucket + 260)[0] == 8


def test_a_correction_never_overflows_the_record():
    record, _ = take(None, 10**15, 10**15, 60.0, NOW)
    bucket = NOW // windows.tick_of(60.0)
    for _ in range(100):
        record = windows.correct(record, bucket, bucket, 2**62)
    assert windows.read(record, bucket)[0] == windows.MAX_TOTAL

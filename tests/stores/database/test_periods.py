"""A range of time as whole periods and rows, without a gap and without an overlap."""

from hypothesis import given
from hypothesis import strategies as st

from engine.stores.database.periods import DAY, HOUR, MONTH, PERIODS, pieces
from tests.support.each import each

_TIMES = st.floats(0, 400 * DAY).map(lambda time: round(time, 6)) | st.integers(0, 400 * 24).map(
    lambda hour: hour * 3600.0
)


@given(_TIMES, _TIMES, st.just(0) | st.integers(0, 400 * 24).map(lambda hour: hour * HOUR))
def test_the_pieces_are_the_range(one, other, complete_from):
    since, until = sorted((one, other))
    parts = pieces(since, until, complete_from)
    ranges = sorted([*parts.rows, *((start, end) for _, start, end in parts.sums)])
    assert (ranges[0][0], ranges[-1][1]) == (since, until)
    assert [end for _, end in ranges[:-1]] == [start for start, _ in ranges[1:]]
    for period, start, end in parts.sums:
        assert period in PERIODS
        assert start % period == end % period == 0
        assert complete_from <= start < end


@given(_TIMES, _TIMES)
def test_few_rows_and_few_sums_are_read(one, other):
    since, until = sorted((one, other))
    parts = pieces(since, until)
    assert sum(end - start for start, end in parts.rows) < 2 * HOUR
    counts = dict.fromkeys(PERIODS, 0)
    for period, start, end in parts.sums:
        counts[period] += (end - start) // period
    assert counts[HOUR] <= 2 * 23
    assert counts[DAY] <= 2 * 31


@each(
    "since,until,expected",
    [
        (10.0, 20.0, ([(10.0, 20.0)], [])),
        (0.0, 3600.0, ([], [(HOUR, 0, 3600)])),
        (1.0, 2 * 3600.0, ([(1.0, 3600)], [(HOUR, 3600, 7200)])),
        (0.0, DAY + 1.0, ([(DAY, DAY + 1.0)], [(DAY, 0, DAY)])),
        (0.0, MONTH * 3.0, ([], [(MONTH, 0, 3 * MONTH)])),
    ],
)
def test_pieces_of_some_ranges(since, until, expected):
    parts = pieces(since, until)
    assert (parts.rows, parts.sums) == expected


def test_no_period_is_longer_than_asked_for():
    assert pieces(0.0, 3.0 * DAY, longest=HOUR).sums == [(HOUR, 0, 3 * DAY)]

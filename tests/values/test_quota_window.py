"""The windows of quotas, as texts and as options."""

import pytest

from engine.values.calendar import Calendar
from engine.values.quota_window import window_key, window_of, window_seconds, window_text

VIENNA = Calendar("month", "Europe/Vienna")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"per": "30d", "time_zone": "UTC"}, "'time_zone' is only for day, week or month"),
        ({"per": "1h", "week_starts": "monday"}, "'week_starts' is only for day, week or month"),
        (
            {"per": "day", "week_starts": "monday"},
            "'week_starts' is only for week; the window is a day",
        ),
    ],
)
def test_keys_that_a_window_does_not_have_are_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        window_of(options)


@pytest.mark.parametrize(
    ("window", "text", "seconds", "key"),
    [(3600.0, "1h", 3600.0, "3600"), (VIENNA, "month in Europe/Vienna", 2_629_746.0, "month")],
)
def test_a_window_for_people_for_comparisons_and_for_counters(window, text, seconds, key):
    texts = window_text(window), window_seconds(window), window_key(window)
    assert texts == (text, seconds, key)

"""Which of two quotas, lists and networks allows more."""

import pytest

from engine.offline.diff import restrictions
from engine.values.calendar import Calendar
from engine.values.quota import Quota


def quota(amount, window):
    return Quota("requests", amount, window)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (quota(60, 60), quota(60, 60), 0),
        (quota(60, 60), quota(61, 60), 1),
        (quota(60, 60), quota(59, 60), -1),
        (quota(60, 60), quota(60, 30), 1),  # more in the long run
        (quota(60, 60), quota(100, 3600), 1),  # more at once
        (quota(60, 60), quota(60, 120), -1),
        (quota(60, Calendar("day")), quota(60, Calendar("week")), -1),
        (quota(60, Calendar("day")), quota(60, Calendar("day", "Asia/Tokyo")), 0),
        (quota(60, 86_400.0), quota(60, Calendar("day")), 1),  # twice around midnight
        (quota(60, Calendar("day")), quota(60, 86_400.0), -1),
    ],
)
def test_a_quota_allows_more_at_once_or_in_the_long_run(old, new, expected):
    assert restrictions.compare_quotas(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        (Calendar("day"), Calendar("day", "Asia/Tokyo"), True),
        (Calendar("week"), Calendar("week", "UTC", "sunday"), True),
        (Calendar("day"), Calendar("week"), False),
        (86_400.0, Calendar("day"), False),
    ],
)
def test_windows_of_the_calendar_may_only_move(old, new, moved):
    assert restrictions.is_moved(quota(60, old), quota(60, new)) is moved
    assert not restrictions.is_moved(quota(60, old), quota(61, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, ["a"], []),
        (["a"], None, ["*"]),
        (["gpt-*"], ["gpt-4o", "claude"], ["claude"]),
        (["gpt-4o"], ["gpt-*"], ["gpt-*"]),
        (["a"], [], []),
    ],
)
def test_the_names_that_are_allowed_anew(old, new, expected):
    assert restrictions.additions(old, new) == expected


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        ("10.1.0.0/16", "10.0.0.0/8", True),
        ("10.0.0.0/8", "10.1.0.0/16", False),
        ("::1/128", "10.0.0.0/8", False),
        ("10.0.0.0/8", "::/0", False),
        ("fd00::/16", "fd00::/8", True),
    ],
)
def test_a_network_covers_those_inside_it(inner, outer, expected):
    assert restrictions.network_covers(inner, outer) is expected


def test_every_origin_is_covered_by_the_wildcard():
    assert restrictions.origin_covers("https://a.example", "*")
    assert not restrictions.origin_covers("https://a.example", "https://b.example")


def test_a_long_list_is_shortened():
    assert restrictions.listed(list("abcde")) == "a, b, c, d, e"
    assert restrictions.listed(list("abcdefg")) == "a, b, c, d, e and 2 more"

"""The policy `spend_limit`."""

import pytest

from engine.config.routes import Policy
from engine.policies import guards
from engine.values.calendar import Calendar
from engine.values.quota import Quota
from engine.values.quota_sharers import shared_by


@pytest.mark.parametrize(("by", "sharing"), [("token", shared_by("token")), ("all", shared_by())])
def test_its_quota(by, sharing):
    policy = Policy("spend_limit", {"amount": 0.1, "per": "1h", "by": by}, (), "")
    (rule,) = guards([policy], "USD").rules
    assert (rule.quota, rule.by) == (Quota("spend", 10**8, 3600.0), sharing)


@pytest.mark.parametrize(
    ("options", "window"),
    [
        ({"per": "month"}, Calendar("month")),
        ({"per": "day", "time_zone": "Europe/Vienna"}, Calendar("day", "Europe/Vienna")),
        (
            {"per": "week", "time_zone": "Asia/Tokyo", "week_starts": "sunday"},
            Calendar("week", "Asia/Tokyo", "sunday"),
        ),
    ],
)
def test_a_window_of_the_calendar(options, window):
    (rule,) = guards([Policy("spend_limit", {"amount": 20, **options}, (), "")], "USD").rules
    assert rule.quota == Quota("spend", 20 * 10**9, window)


def test_the_name_of_its_counter_stays_when_the_time_zone_changes():
    names = {
        guards([Policy("spend_limit", {"amount": 20, "per": "month", **zone}, (), "")], "USD")
        .rules[0]
        .name
        for zone in ({}, {"time_zone": "Europe/Vienna"})
    }
    assert names == {"spend_limit/token/month/"}

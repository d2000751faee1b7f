"""What a warning says to operators and to webhooks."""

from __future__ import annotations

import pytest

from engine.callers.limits.limit_warnings import warning_event, warning_text
from engine.values.calendar import Calendar
from engine.values.counters import Limit, LimitWarning
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import NOBODY, Sharer, Sharing, shared_by
from tests.support.each import each

NANO = 10**9
NOW = 1_800_000_000.0


def warning(kind, amount, window, by, name, used, percent=80):
    rule = QuotaRule(Quota(kind, amount, window, (percent,)), by, "rule")
    return LimitWarning(rule, name, Limit(f"rule|{name}", amount, window), percent, used, 600.0)


BUDGET = warning(
    "spend", 200 * NANO, Calendar("month"), shared_by("team"), "search", 161 * NANO + NANO // 2
)


def test_an_event_of_money_has_decimal_texts():
    assert warning_event(BUDGET, "USD", NOW) == {
        "type": "limit.warning",
        "timestamp": "2027-01-15T08:00:00Z",
        "data": {
            "percent": 80,
            "limit": {
                "kind": "budget",
                "by": {"team": "search"},
                "window": "month",
                "unit": "USD",
                "amount": "200.00",
                "used": "161.50",
                "left": "38.50",
                "resets_at": "2027-01-15T08:10:00Z",
            },
        },
    }


@each(
    "by,name,expected,words",
    [
        ((), "", {}, "all callers together"),
        ((Sharer("token"),), "ann", {"token": "ann"}, "token 'ann'"),
        (
            (Sharer("token"), Sharer("header", "x-customer")),
            f"ann|{NOBODY}",
            {"token": "ann", "header:x-customer": None},
            "token 'ann' with header x-customer (none)",
        ),
    ],
)
def test_whose_limit_it_is(by, name, expected, words):
    of = warning("requests", 60, 60.0, Sharing(by), name, 48)
    assert warning_event(of, "USD", NOW)["data"]["limit"]["by"] == expected
    assert f"of {words}: 48 requests are used; all of it is free again at" in warning_text(
        of, "USD", NOW
    )


@pytest.mark.parametrize("start", ["mw-", "ghp_1"])
def test_a_name_that_is_a_token_is_not_shown(start):
    of = warning("requests", 60, 60.0, Sharing((Sharer("header", "x"),)), start + "a" * 64, 48)
    assert "a" * 64 not in warning_text(of, "USD", NOW)
    assert "a" * 64 not in str(warning_event(of, "USD", NOW))


def test_the_line_of_a_budget():
    assert warning_text(BUDGET, "USD", NOW) == (
        "limit warning: 80% of 200 USD per month of team 'search': 161.5 USD are used; the window "
        "ends at 2027-01-15T08:10:00Z"
    )

"""Amounts per time, as people write them."""

import re

import pytest

from engine.values.calendar import Calendar
from engine.values.quota import COUNT, MONEY, Quota, count, money, token_quota
from engine.values.quota_window import window_text


@pytest.mark.parametrize(
    ("text", "amount", "window"),
    [("60/1m", 60, 60.0), ("1/0.5s", 1, 0.5), ("1000000/30d", 1_000_000, 2_592_000.0)],
)
def test_a_count_per_time(text, amount, window):
    assert count("requests", text) == Quota("requests", amount, window)


@pytest.mark.parametrize("text", ["", "60", "60/", "0/1m", "-1/1m", "60/1x", "1e3/1m", "60/0s"])
def test_an_invalid_count_per_time_is_refused(text):
    with pytest.raises(ValueError, match=re.escape(f"'{text}'")):
        count("requests", text)
    assert text == "60/0s" or not re.fullmatch(COUNT, text)


@pytest.mark.parametrize(
    ("text", "nanos"),
    [("20 USD/30d", 20 * 10**9), ("0.1 USD/30d", 10**8), ("0.000000001 USD/30d", 1)],
)
def test_money_per_time_is_exact(text, nanos):
    assert money(text, "USD") == Quota("spend", nanos, 2_592_000.0)


@pytest.mark.parametrize("text", ["20/30d", "20 usd/30d", "USD 20/30d", "20 USD", "20 USD/0d"])
def test_invalid_money_per_time_is_refused(text):
    with pytest.raises(ValueError, match=re.escape(f"'{text}'")):
        money(text, "USD")
    assert text == "20 USD/0d" or not re.fullmatch(MONEY, text)


def test_money_of_another_currency_is_refused():
    with pytest.raises(ValueError, match="in EUR, but prices are in USD"):
        money("20 EUR/30d", "USD")


VIENNA = Calendar("month", "Europe/Vienna")


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("20 USD/month", Calendar("month")),
        ("20 USD/month in Europe/Vienna", VIENNA),
        ("20 USD/week from sunday", Calendar("week", "UTC", "sunday")),
        ("20 USD/week in Etc/GMT+12 from friday", Calendar("week", "Etc/GMT+12", "friday")),
        ("20 USD/day in America/Argentina/Buenos_Aires", None),
    ],
)
def test_money_per_window_of_the_calendar(text, window):
    window = window or Calendar("day", "America/Argentina/Buenos_Aires")
    assert re.fullmatch(MONEY, text)
    assert money(text, "USD") == Quota("spend", 20 * 10**9, window)
    assert count("tokens", text.replace("20 USD", "5")) == Quota("tokens", 5, window)
    assert window_text(window) == text.partition("/")[2]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("20 USD/month in Europe/Wien", "'Europe/Wien' is not a time zone like Europe/Vienna"),
        ("20 USD/month from sunday", "'week_starts' is only for week; the window is a month"),
        ("20 USD/30d in Europe/Vienna", "is not money per time like 20 USD/30d or 20 USD/month"),
        ("20 USD/months", "is not money per time"),
        ("20 USD/month ", "is not money per time"),
        ("20 USD/month in ../../etc/passwd", "is not money per time"),
    ],
)
def test_windows_that_there_are_not(text, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        money(text, "USD")


def test_tokens_with_equal_quotas_share_them():
    assert token_quota("rate", "60/1m", "USD") is token_quota("rate", "60/1m", "USD")
    assert token_quota("rate", "61/1m", "USD") != token_quota("rate", "60/1m", "USD")

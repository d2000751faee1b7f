"""Amounts per time, as people write them."""

import re

import pytest

from engine.values.quota import COUNT, MONEY, Quota, count, money


@pytest.mark.parametrize(
    ("text", "amount", "window"),
    [("60/1m", 60, 60.0), ("1/0.5s", 1, 0.5), ("1000000/30d", 1_000_000, 2_592_000.0)],
)
def test_a_count_per_time(text, amount, window):
    assert count("requests", text) == Quota("requests", amount, window)


@pytest.mark.parametrize("text", ["", "60", "60/", "0/1m", "-1/1m", "60/1x", "1e3/1m", "60/0s"])
def test_what_is_no_count_per_time(text):
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
def test_what_is_no_money_per_time(text):
    with pytest.raises(ValueError, match=re.escape(f"'{text}'")):
        money(text, "USD")
    assert text == "20 USD/0d" or not re.fullmatch(MONEY, text)


def test_money_of_another_currency_is_refused():
    with pytest.raises(ValueError, match="in EUR, but prices are in USD"):
        money("20 EUR/30d", "USD")

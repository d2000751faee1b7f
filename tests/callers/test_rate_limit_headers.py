"""The headers that say what is left of a limit."""

from engine.callers.rate_limit_headers import RateLimitHeaders


def test_each_kind_has_its_amount_what_is_left_and_when_it_is_whole_again():
    headers = RateLimitHeaders([(1, "tokens", 1000)])
    assert headers.render([3, 40], [1.0, 7.25]) == {
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "40",
        "x-ratelimit-reset-tokens": "7.250s",
    }


def test_money_is_in_units_of_the_currency():
    headers = RateLimitHeaders([(0, "spend", 50 * 10**9)])
    assert headers.render([12_500_000], [60.0]) == {
        "x-ratelimit-limit-budget": "50.00",
        "x-ratelimit-remaining-budget": "0.0125",
        "x-ratelimit-reset-budget": "60.000s",
    }

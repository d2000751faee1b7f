"""What a request takes of its limits, and which of them the headers say."""

from types import SimpleNamespace

import pytest

from engine import dialects
from engine.callers.limits.limit_set import LimitSet, RateLimitHeaders
from engine.values.counters import Limit
from engine.values.price import price_of
from engine.values.price_list import Prices
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import shared_by
from engine.values.usage import Takes, Usage
from tests.support.exchanges import new_exchange

PRICES = Prices({"*": price_of({"input": 2, "output": 4})})
RATE, SLOTS = Quota("requests", 10, 60.0), Quota("concurrency", 3)
TOKENS, MONEY = Quota("tokens", 1000, 60.0), Quota("spend", 10**9, 60.0)


def limits(*quotas):
    return LimitSet(
        [QuotaRule(one, shared_by("token"), f"{one.kind}/{at}") for at, one in enumerate(quotas)],
        ["alice"] * len(quotas),
    )


def test_a_request_takes_one_of_each_and_its_estimate_of_what_is_used():
    takes = Takes(output=dialects.default().request_fields.output)
    exchange = new_exchange("POST", "/", "", {}, model="gpt", takes=takes)
    exchange.record.estimate = Usage(100, 50)
    kind = limits(RATE, SLOTS, TOKENS, MONEY)
    assert kind.limits == (
        Limit("requests/0|alice", 10, 60.0),
        Limit("concurrency/1|alice", 3, 0.0),
        Limit("tokens/2|alice", 1000, 60.0),
        Limit("spend/3|alice", 10**9, 60.0),
    )
    assert kind.costs(exchange, PRICES) == [1, 1, 150, 400_000]


@pytest.mark.parametrize(("target_model", "cost"), [("llama", 400_000), ("", 700_000), ("x", 0)])
def test_the_price_before_a_request_is_sent_is_that_of_the_first_target(target_model, cost):
    llama, gpt = price_of({"input": 2, "output": 4}), price_of({"input": 5, "output": 4})
    target = SimpleNamespace(
        upstream=SimpleNamespace(name="fast"), model=target_model, entry="*", exact_entry=""
    )
    exchange = new_exchange("POST", "/", "", {}, model="gpt", targets=[target], takes=Takes())
    exchange.record.estimate = Usage(100, 50)
    prices = Prices({}, {"fast": {"llama": llama, "gpt": gpt}})
    assert limits(MONEY).costs(exchange, prices) == [cost]


@pytest.mark.parametrize(
    ("status", "reached", "costs"),
    [
        (200, True, [1, 0, 9, 70]),
        (502, True, [1, 0, 9, 70]),
        (502, False, [0, 0, 0, 0]),
        (400, False, [0, 0, 0, 0]),
    ],
)
def test_a_failure_before_an_upstream_costs_nothing(status, reached, costs):
    record = new_exchange("POST", "/", "", {}).record
    record.status, record.reached_upstream, record.usage, record.cost = (
        status,
        reached,
        Usage(4, 5),
        70,
    )
    assert limits(RATE, SLOTS, TOKENS, MONEY).final_costs(record) == costs


@pytest.mark.parametrize(
    ("rules", "settled"),
    [((RATE,), False), ((RATE, SLOTS), True), ((TOKENS,), True), ((MONEY,), True)],
)
def test_of_requests_that_were_counted_nothing_is_left_to_settle(rules, settled):
    record = new_exchange("POST", "/", "", {}).record
    record.status, record.reached_upstream = 200, True
    assert (limits(*rules).final_costs(record) is not None) == settled


def test_costs_of_two_callers_are_independent():
    kind, exchange = limits(TOKENS), new_exchange("POST", "/", "", {}, takes=Takes())
    exchange.record.estimate = Usage(100, 50)
    costs = kind.costs(exchange, PRICES)
    other = new_exchange("POST", "/", "", {}, takes=Takes())
    other.record.estimate = Usage(1, 1)
    assert kind.costs(other, PRICES) == [2]
    assert costs == [150]


def test_headers_tell_of_the_nearest_limit_of_each_kind():
    kind = limits(RATE, Quota("requests", 100, 3600.0), SLOTS)
    assert kind.headers([9, 5, 0], [1.0, 7.25, 0.0]) == {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "5",
        "x-ratelimit-reset-requests": "7.250s",
    }


def test_another_limit_is_nearest_when_less_of_it_is_left():
    kind, resets = limits(RATE, TOKENS, Quota("requests", 100, 3600.0)), [1.0, 2.0, 7.25]
    headers = [kind.headers(left, resets) for left in ([9, 50, 5], [0, 40, 5], [0, 40, 5])]
    assert [one["x-ratelimit-limit-requests"] for one in headers] == ["100", "10", "10"]
    assert [one["x-ratelimit-remaining-requests"] for one in headers] == ["5", "0", "0"]
    assert [one["x-ratelimit-reset-requests"] for one in headers] == ["7.250s", "1.000s", "1.000s"]
    assert [one["x-ratelimit-remaining-tokens"] for one in headers] == ["50", "40", "40"]


def test_the_nearest_limit_is_that_with_the_smallest_share_left():
    kind = limits(RATE, Quota("requests", 100, 3600.0))
    assert kind.headers([4, 5], [1.0, 7.25])["x-ratelimit-limit-requests"] == "100"


def test_headers_of_one_request_are_not_those_of_the_next():
    kind, resets = limits(RATE, TOKENS), [1.0, 7.25]
    first = kind.headers([9, 50], resets)
    second = kind.headers([8, 40], resets)
    third = kind.headers([7, 30], [0.5, 8.0])
    names = ("remaining-requests", "remaining-tokens", "reset-requests", "reset-tokens")
    assert [[one[f"x-ratelimit-{name}"] for name in names] for one in (first, second, third)] == [
        ["9", "50", "1.000s", "7.250s"],
        ["8", "40", "1.000s", "7.250s"],
        ["7", "30", "0.500s", "8.000s"],
    ]


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

"""Limits of a request: taken at once, shown in headers, settled at the end."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from engine.exchange.exchange import Response
from engine.exchange.outcome import Outcome
from engine.exchange.stage_services import Services
from engine.process.log_throttle import LogThrottle
from engine.stages import limit as module
from engine.stages.limit import limit
from engine.values.calendar import Calendar
from engine.values.caller import Caller
from engine.values.counters import CountersAway, TakeResult
from engine.values.errors import GatewayError
from engine.values.price import price_of
from engine.values.price_list import Prices, TeamPriceList
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import shared_by
from engine.values.usage import Usage
from tests.support.counters import Limit
from tests.support.exchanges import new_exchange

RATE = QuotaRule(Quota("requests", 60, 60.0), shared_by("token"), "rate")
SLOTS = QuotaRule(Quota("concurrency", 2), shared_by("token"), "slots")
TOKENS = QuotaRule(Quota("tokens", 1000, 86_400.0), shared_by("token"), "tokens")
SPEND = QuotaRule(Quota("spend", 10**9, 30 * 86_400.0), shared_by("token"), "spend")


class Counters:
    """Counters with a fixed result; `takes` and `settled` list the calls."""

    def __init__(self, denied: int | None = None, wait: float = 2.5, away: bool = False) -> None:
        self.denied, self.wait, self.away = denied, wait, away
        self.takes: list = []
        self.settled: list = []

    def take(self, limits, costs):
        if self.away:
            raise CountersAway("no connection")
        self.takes.append([Limit(*limit, cost) for limit, cost in zip(limits, costs, strict=True)])
        count = len(costs)
        state = [7] * count, [30.0] * count
        if self.denied is not None:
            return TakeResult(self.denied, *state, None, [self.wait] * count)
        return TakeResult(None, *state, "receipt")

    def settle(self, receipt, costs):
        assert receipt == "receipt"
        self.settled.append(list(costs))

    def close(self):
        raise AssertionError("a stage closed the counters")


def exchange(**more):
    fields = {"caller": Caller("alice"), "operation": "openai.chat", "model": "gpt"} | more
    return new_exchange(environ={"REMOTE_ADDR": "9.9.9.9"}, **fields)


def run(rules, counters, request=None, following=None, **services):
    request = request or exchange()
    stage = limit(rules, Services(counters=counters, **services), "fixed")

    def answer(exchange):
        exchange.record.reached_upstream = True
        exchange.record.end(200, Outcome.COMPLETE)
        return Response(200, [("x-ratelimit-limit-requests", "theirs"), ("x", "y")])

    return stage(request, following or answer), request


def refusal(rules, counters, **more):
    with pytest.raises(GatewayError) as excinfo:
        run(rules, counters, **more)
    return excinfo.value


def test_all_limits_are_taken_at_once():
    counters = Counters()
    run([RATE, SLOTS], counters, exchange(caller=Caller("bob", limits=(RATE.quota,))))
    (takes,) = counters.takes
    assert [(each.key, each.amount, each.window, each.cost) for each in takes] == [
        ("rate|bob", 60, 60.0, 1),
        ("slots|bob", 2, 0.0, 1),
        ("token/requests/60|bob", 60, 60.0, 1),
    ]


@pytest.mark.parametrize(
    ("by", "sharer"),
    [
        (("token",), "alice"),
        (("route",), "openai.chat"),
        (("upstream",), "fixed"),
        (("team",), "shop"),
        ((), ""),
        (("token", "route"), "alice|openai.chat"),
        (("team", "upstream"), "shop|fixed"),
    ],
)
def test_who_shares_a_limit(by, sharer):
    counters = Counters()
    request = exchange(caller=Caller("alice", team="shop"))
    run([replace(RATE, by=shared_by(*by))], counters, request)
    assert counters.takes[0][0].key == f"rate|{sharer}"


@pytest.mark.parametrize(("by", "sharer"), [("upstream", "chosen"), ("model", "gpt-*")])
def test_the_upstream_and_the_model_are_those_of_the_first_target(by, sharer):
    """All names that match a wildcard share its limit."""
    counters = Counters()
    target = SimpleNamespace(upstream=SimpleNamespace(name="chosen"), entry="gpt-*")
    run(
        [replace(RATE, by=shared_by(by))],
        counters,
        exchange(targets=[target], model="gpt-request-up"),
    )
    assert counters.takes[0][0].key == f"rate|{sharer}"


def test_a_public_route_counts_by_address():
    counters = Counters()
    run([RATE], counters, exchange(caller=None))
    assert counters.takes[0][0].key == "rate|@9.9.9.9"


def test_without_limits_or_counters_nothing_is_taken():
    counters = Counters()
    run([], counters)
    assert counters.takes == []
    assert run([RATE], None)[0].headers[0] == ("x-ratelimit-limit-requests", "theirs")


def test_a_response_has_the_state_of_the_limits():
    response, _ = run([RATE, TOKENS, SLOTS], Counters())
    assert response.gateway_headers == {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "7",
        "x-ratelimit-reset-requests": "30.000s",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "7",
        "x-ratelimit-reset-tokens": "30.000s",
    }


def test_a_limit_of_requests_is_429_with_a_retry_after():
    error = refusal([RATE], Counters(denied=0))
    assert (error.status, error.code) == (429, "rate_limit_exceeded")
    assert error.message == "Limit reached: 60 requests per 1 minute for this token."
    assert ("retry-after", "3") in error.headers
    assert ("x-ratelimit-remaining-requests", "7") in error.headers


def test_a_budget_of_tokens_is_429():
    error = refusal([RATE, TOKENS], Counters(denied=1))
    assert (error.status, error.code) == (429, "token_budget_exceeded")
    assert "1000 tokens per 1 day" in error.message


def test_a_request_larger_than_the_limit_should_not_be_retried():
    rule = QuotaRule(Quota("tokens", 1, 60.0), shared_by("token"), "tokens")
    greedy = exchange()
    greedy.record.estimate = Usage(input=3, output=500)
    error = refusal([rule], Counters(denied=0), request=greedy)
    assert "may use 503 tokens" in error.message
    assert ("x-should-retry", "false") in error.headers


def test_a_limit_of_concurrency_is_429_with_a_retry_after_of_a_second():
    error = refusal([SLOTS], Counters(denied=0))
    assert (error.status, error.code) == (429, "concurrency_limit_exceeded")
    assert ("retry-after", "1") in error.headers


def test_a_spent_budget_is_402_and_should_not_be_retried():
    error = refusal([SPEND], Counters(denied=0, wait=100.0))
    assert (error.status, error.code) == (402, "budget_exceeded")
    assert ("retry-after", "100") in error.headers
    assert ("x-should-retry", "false") in error.headers
    assert "for 30 days" in error.message


@pytest.mark.parametrize(
    ("kind", "amount", "words"),
    [
        ("spend", 10**9, "The budget of this token for this month is used up."),
        ("requests", 60, "Limit reached: 60 requests per month for this token."),
    ],
)
def test_a_refusal_of_a_calendar_names_the_start_of_the_next_window(kind, amount, words):
    rule = QuotaRule(
        Quota(kind, amount, Calendar("month", "Europe/Vienna")), shared_by("token"), "x"
    )
    clock = partial(datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp)
    wait = datetime(2026, 11, 30, 23, tzinfo=UTC).timestamp() - clock()
    error = refusal([rule], Counters(denied=0, wait=wait), clock=clock)
    assert error.message == f"{words} The next month begins at 2026-12-01T00:00+01:00."
    assert ("retry-after", f"{wait:.0f}") in error.headers


def test_a_request_that_costs_more_than_the_budget_is_402():
    prices = Prices({"gpt*": price_of({"output": 1_000_000})})
    greedy = exchange()
    greedy.record.estimate = Usage(output=500)
    error = refusal([SPEND], Counters(denied=0, wait=100.0), request=greedy, prices=prices)
    assert (error.status, error.code) == (402, "budget_exceeded")
    assert "may cost more than the budget of this token" in error.message
    assert "retry-after" not in dict(error.headers)


def test_the_usage_is_settled_at_the_end():
    prices = Prices({"gpt*": price_of({"input": 1})})
    counters = Counters()
    _, request = run([RATE, TOKENS, SPEND, SLOTS], counters, prices=prices)
    request.record.usage, request.record.cost = Usage(input=5, output=6), 5000
    request.end()
    assert counters.settled == [[1, 11, 5000, 0]]


def test_the_estimated_cost_is_taken_of_a_budget():
    prices = Prices({"gpt": price_of({"input": 1, "output": 2})})
    counters, request = Counters(), exchange()
    request.record.estimate = Usage(input=10, output=100)
    run([SPEND], counters, request, prices=prices)
    assert counters.takes[0][0].cost == 10 * 1000 + 100 * 2000


def test_the_estimated_cost_is_that_for_the_callers_team():
    prices = Prices({"gpt": price_of({"output": 2})}, teams={"lab": TeamPriceList(Decimal(50))})
    counters, request = Counters(), exchange()
    request.caller = Caller("ann", team="lab")
    request.record.estimate = Usage(output=100)
    run([SPEND], counters, request, prices=prices)
    assert counters.takes[0][0].cost == 300_000


@pytest.mark.parametrize(("reached", "settled"), [(False, [[0]]), (True, [])])
def test_a_request_that_reached_no_upstream_is_refunded(reached, settled):
    def fails(exchange):
        exchange.record.reached_upstream = reached
        exchange.record.end(502, Outcome.FAILED)
        raise GatewayError(502, "upstream_unreachable", "away")

    counters, request = Counters(), exchange()
    with pytest.raises(GatewayError):
        run([RATE], counters, request, fails)
    request.end()
    assert counters.settled == settled


@pytest.mark.parametrize("status", [400, 422, 429, 500, 504])
def test_a_request_that_an_upstream_refuses_costs_no_budget(status):
    """A gateway that charges its estimate for errors and timeouts charges too much."""

    def refuses(exchange):
        exchange.record.reached_upstream = True
        exchange.record.end(status, Outcome.of_status(status))
        return Response(status, [])

    counters, request = Counters(), exchange()
    request.record.estimate = Usage(input=10, output=100)
    prices = Prices({"gpt": price_of({"input": 1, "output": 2})})
    run([TOKENS, SPEND], counters, request, refuses, prices=prices)
    request.end()
    assert counters.takes[0][1].cost > 0
    assert counters.settled == [[0, 0]]


def test_a_denied_request_settles_nothing():
    counters, request = Counters(denied=0), exchange()
    refusal([RATE], counters, request=request)
    request.end()
    assert counters.settled == []


def test_without_counters_requests_pass_with_one_log_line(caplog, monkeypatch):
    monkeypatch.setattr(module, "counters_warning", LogThrottle(level=logging.ERROR))
    for _ in range(3):
        request = exchange()
        assert run([RATE], Counters(away=True), request=request)[0].status == 200
        assert request.record.uncounted
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "pass uncounted" in caplog.text


def test_without_counters_requests_are_refused_if_the_config_says_so(monkeypatch):
    monkeypatch.setattr(module, "counters_warning", LogThrottle(level=logging.ERROR))
    error = refusal([RATE], Counters(away=True), allow_uncounted=False)
    assert (error.status, error.code) == (503, "counters_unavailable")
    assert ("retry-after", "1") in error.headers


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (90, "90 seconds"), (3600, "1 hour"), (2_592_000, "30 days"), (0.5, "0.5 s")],
)
def test_a_refusal_names_the_window(seconds, words):
    error = refusal(
        [QuotaRule(Quota("requests", 1, seconds), shared_by("token"), "x")], Counters(denied=0)
    )
    assert f"1 requests per {words}" in error.message


def test_the_limits_of_a_token_hold_on_a_route_without_limits():
    counters = Counters()
    run([], counters, exchange(caller=Caller("bob", limits=(RATE.quota,))))
    run([], counters)
    assert [[each.key for each in takes] for takes in counters.takes] == [["token/requests/60|bob"]]


def test_a_response_says_what_is_left_of_money_in_units_of_the_currency():
    response, _ = run([SPEND], Counters())
    assert response.gateway_headers == {
        "x-ratelimit-limit-budget": "1.00",
        "x-ratelimit-remaining-budget": "0.000000007",
        "x-ratelimit-reset-budget": "30.000s",
    }


class Left(Counters):
    """Counters of which so much is left after a take."""

    def __init__(self, left, **more):
        super().__init__(**more)
        self.left = left

    def take(self, limits, costs):
        return super().take(limits, costs)._replace(remaining=[self.left] * len(costs))


WARNED = QuotaRule(replace(TOKENS.quota, warn_at=(50, 80, 100)), shared_by("token"), "tokens")


def warned(counters, request=None):
    """The shares and amounts of the warnings of a request, which uses 30 tokens."""
    warnings = []
    request = request or exchange()
    request.record.estimate = Usage(input=300, output=100)
    try:
        run([WARNED], counters, request, warn=warnings.append)
    except GatewayError:
        pass
    else:
        request.record.usage = Usage(input=20, output=10)
        request.end()
    return [(warning.percent, warning.used) for warning in warnings]


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (600, []),  # 400 are reserved by this request, which uses 30
        (130, [(50, 500)]),
        (129, [(50, 501)]),
        (0, [(50, 630)]),
    ],
)
def test_a_request_warns_at_its_end_with_what_it_used(left, expected):
    assert warned(Left(left)) == expected


def test_a_refusal_is_all_that_is_left():
    assert warned(Left(350, denied=0)) == [(50, 650), (100, 650)]


def test_a_request_that_is_larger_than_the_limit_warns_of_nothing():
    greedy = exchange()
    greedy.record.estimate = Usage(input=3, output=5000)
    warnings = []
    with pytest.raises(GatewayError):
        run([WARNED], Left(1000, denied=0), greedy, warn=warnings.append)
    assert warnings == []

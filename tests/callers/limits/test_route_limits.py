"""The limits that a request takes: those of its route, of its token and of its teams."""

from engine.callers.limits.route_limits import Part, RouteLimits
from engine.values.caller import Caller, Team
from engine.values.counters import TakeResult
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import Sharer, Sharing, shared_by
from tests.support.exchanges import new_exchange

RATE, TOKENS = Quota("requests", 10, 60.0), Quota("tokens", 1000, 60.0)


def test_limit_sets_are_made_once_for_each_caller_and_the_last_used_are_kept():
    sets = RouteLimits([QuotaRule(RATE, shared_by("token"), "rate")], (), "fixed", size=2)
    a, b, _, again, b_again = (sets.of(new_exchange(caller=Caller(name))) for name in "abcab")
    assert a is not again
    assert b is not b_again
    assert sets.of(new_exchange(caller=Caller("b"))) is b_again


def own_limits(caller, part=Part.ALL):
    """The counters of a caller on a route without limits."""
    return [
        limit.key for limit in RouteLimits([], (), "", part).of(new_exchange(caller=caller)).limits
    ]


def test_a_member_takes_of_its_token_and_of_each_of_its_teams():
    company = Team("company", limits=(RATE,))
    lab = Team("lab", limits=(RATE,), parent="company")
    caller = Caller("alice", limits=(RATE,), team="lab", teams=(lab, company))
    names = ("token/requests/60|alice", "team/requests/60|lab", "team/requests/60|company")
    assert own_limits(caller) == [*names]
    other = Caller("bob", team="company", teams=(company,))
    assert own_limits(other) == ["team/requests/60|company"]


def test_a_limit_of_a_token_is_taken_in_one_part():
    caller = Caller("alice", limits=(RATE, TOKENS))
    assert own_limits(caller, Part.HEAD) == ["token/requests/60|alice"]
    assert own_limits(caller, Part.MODEL) == ["token/tokens/60|alice"]
    assert own_limits(caller, Part.BODY) == []


def test_no_two_combinations_of_sharers_have_one_count():
    by = shared_by("token", "route")
    sets = RouteLimits([QuotaRule(RATE, by, "rate")], (), "")
    exchanges = [
        new_exchange(caller=Caller(name), operation=operation)
        for name, operation in (("a|b", "c"), ("a", "b|c"))
    ]
    first, second = (sets.of(exchange).limits[0].key for exchange in exchanges)
    assert first != second


def test_headers_tell_of_the_limits_that_were_taken_before():
    body = Sharing((Sharer("body", "/user"),))
    rules = [QuotaRule(RATE, shared_by("token"), "rate"), QuotaRule(RATE, body, "user")]
    late = RouteLimits(rules, (), "", Part.BODY).of(new_exchange(caller=Caller("alice")))
    assert [limit.key for limit in late.limits] == ["user|#none"]
    headers = late.headers([7], [1.0], TakeResult(None, [2], [5.0]))
    assert headers["x-ratelimit-remaining-requests"] == "2"

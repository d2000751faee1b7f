"""Which target of a request is attempted next; how failures are applied is in test_forward."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.config.upstreams import BreakerConfig, Retry
from engine.credentials.interface.fixed import HeaderCredential
from engine.upstream.candidates import Candidates
from engine.upstream.target import Target
from tests.support.clock import Clock
from tests.support.upstreams import Client, target

KEYS = [HeaderCredential("header", "authorization", key) for key in ("Bearer aaaa", "Bearer bbbb")]


def candidates(
    *targets: Target, clock: Clock | None = None, carries: Callable[[Target], bool] | None = None
) -> Candidates:
    return Candidates(targets, clock or Clock(), lambda: 0.5, carries)


def attempted(of: Candidates, count: int) -> list[Target | None]:
    """The targets of so many attempts, None where there is none."""
    targets = [of.next() for _ in range(count)]
    return [candidate and candidate.target for candidate in targets]


def test_every_target_is_attempted_once_before_any_of_them_twice() -> None:
    a, b = (target(Client(), name=name, retry=Retry(attempts=2)) for name in "ab")
    assert attempted(candidates(a, b), 5) == [a, b, a, b, None]


def test_a_target_that_cannot_get_the_request_is_left_out() -> None:
    a, b = target(Client(), name="a"), target(Client(), name="b")
    assert attempted(candidates(a, b, carries=lambda target: target is b), 2) == [b, None]


def test_a_retry_waits_and_a_first_attempt_does_not() -> None:
    of = candidates(target(Client(), retry=Retry(attempts=2)))
    first, second = of.next(), of.next()
    assert first is not None
    assert second is not None
    assert first.wait == 0
    assert second.wait > 0


def test_no_attempt_begins_after_the_total_timeout_of_the_first_upstream() -> None:
    clock = Clock()
    of = candidates(target(Client()), clock=clock)
    clock.advance(of.deadline)
    assert of.next() is None


def test_a_target_with_an_open_breaker_is_unavailable_until_it_closes() -> None:
    of = candidates(target(Client(), breaker=BreakerConfig(failures=1, cooldown=7.0)))
    candidate = of.next()
    assert candidate is not None
    of.failed(candidate.target, None, "5xx", None)
    assert attempted(of, 1) == [None]
    assert ("retry-after", "7") in of.unavailable().headers


@pytest.mark.parametrize("failure", ["credential", "429"])
def test_a_retry_takes_another_credential_than_the_one_that_failed(failure: str) -> None:
    of = candidates(target(Client(), credentials=KEYS, retry=Retry(attempts=3)))
    first = of.next()
    assert first is not None
    of.failed(first.target, first.credential, failure, 0.0)
    second = of.next()
    assert second is not None
    assert {first.credential, second.credential} == set(KEYS)


class Renewable(HeaderCredential):
    """A credential whose token can be fetched anew; `renewals` are counted."""

    renewals = 0

    def renew(self) -> bool:
        type(self).renewals += 1
        return True


def test_a_refused_token_is_fetched_anew_once_in_a_request() -> None:
    class Token(Renewable):
        pass

    only = target(Client(), credentials=[Token("k", "a", "s")], retry=Retry(attempts=5))
    tried = candidates(only)
    for _ in range(2):
        candidate = tried.next()
        assert candidate is not None
        tried.failed(candidate.target, candidate.credential, "credential", None)
    assert Token.renewals == 1
    assert tried.next() is None


def test_a_fixed_credential_that_is_refused_is_not_tried_again() -> None:
    only = target(Client(), credentials=[KEYS[0]], retry=Retry(attempts=5))
    tried = candidates(only)
    candidate = tried.next()
    assert candidate is not None
    tried.failed(candidate.target, candidate.credential, "credential", None)
    assert tried.next() is None

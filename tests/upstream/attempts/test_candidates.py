"""Which target of a request is attempted next; how failures are applied is in test_forward."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import gevent
import pytest

from engine.config.upstreams import BreakerConfig, Retry
from engine.credentials.interface.fixed import HeaderCredential
from engine.exchange.request_record import RequestRecord
from engine.upstream.attempts.candidates import Candidates
from engine.upstream.attempts.request_slots import RequestSlots
from engine.upstream.targets.retry import Budget
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import AFTER_GROUP, FIRST, LAST
from engine.values.admission import NORMAL, Figures
from tests.support.admission import bounded, full
from tests.support.clock import Clock
from tests.support.each import each
from tests.support.upstreams import Client, target
from tests.support.waiting import PATIENCE

KEYS = [HeaderCredential("header", "authorization", key) for key in ("Bearer aaaa", "Bearer bbbb")]


def candidates(
    *targets: Target,
    clock: Callable[[], float] | None = None,
    carries: Callable[[Target], bool] | None = None,
    rank: int = NORMAL,
    record: RequestRecord | None = None,
) -> Candidates:
    clock = clock or Clock()

    def slots(deadline: float) -> RequestSlots:
        return RequestSlots(rank, record or RequestRecord(), deadline, clock)

    return Candidates(targets, clock, lambda: 0.5, carries, slots)


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


def test_a_model_whose_answer_is_unusable_is_asked_at_other_upstreams_alone() -> None:
    client, retry = Client(), Retry(attempts=3)
    a, b = (target(client, "m", name=name, retry=retry) for name in "ab")
    replica = replace(a, address="10.0.0.2")
    larger = replace(a, model="larger")
    of = candidates(a, replica, larger, b)
    first = of.next()
    assert first is not None
    of.failed(first.target, None, "error", None, is_unusable=True)
    assert attempted(of, 3) == [larger, b, larger]


class Turn:
    """A condition that always gives the same turn."""

    def __init__(self, turn: int) -> None:
        self._turn = turn

    def turn(self, now: float) -> int:
        return self._turn


def test_a_second_attempt_beside_the_first_does_not_use_up_what_is_left_of_a_limit() -> None:
    targets = [target(Client(), name=name) for name in "abc"]
    for each_target, place in zip(targets, (FIRST, AFTER_GROUP, FIRST), strict=True):
        each_target.state.conditions = (Turn(place),)
    a, b = targets[:2]
    c = replace(targets[2], entry="fallback")
    of = candidates(a, b, c)
    first, beside = of.next(), of.next_unattempted(of_group=False)
    assert first is not None
    assert beside is not None
    assert [first.target, beside.target] == [a, c]
    assert attempted(of, 2) == [b, None]


@each("place", [AFTER_GROUP, LAST])
def test_a_target_that_was_asked_late_is_attempted_again(place: int) -> None:
    late = target(Client(), name="a", retry=Retry(attempts=2))
    late.state.conditions = (Turn(place),)
    assert attempted(candidates(late), 3) == [late, late, None]


def of_entry(entry: str, *places: int) -> list[Target]:
    """Targets of a model, with their places."""
    targets = []
    for number, place in enumerate(places):
        each_target = target(Client(), name=f"{entry}{number}", retry=Retry(attempts=1))
        each_target.state.conditions = (Turn(place),)
        targets.append(replace(each_target, entry=entry))
    return targets


def test_the_order_within_a_group_is_kept_after_a_second_attempt_of_it_beside_another() -> None:
    a0, a1 = of_entry("a", FIRST, AFTER_GROUP)
    b0, b1, b2 = of_entry("b", AFTER_GROUP, FIRST, FIRST)
    of = candidates(a0, a1, b0, b1, b2, carries=lambda target: target is not a1)
    first, beside = of.next(), of.next_unattempted(of_group=False)
    assert [each and each.target for each in (first, beside)] == [a0, b1]
    assert attempted(of, 3) == [b2, b0, None]


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
    result = candidates(only)
    for _ in range(2):
        candidate = result.next()
        assert candidate is not None
        result.failed(candidate.target, candidate.credential, "credential", None)
    assert Token.renewals == 1
    assert result.next() is None


def test_a_fixed_credential_that_is_refused_is_not_tried_again() -> None:
    only = target(Client(), credentials=[KEYS[0]], retry=Retry(attempts=5))
    result = candidates(only)
    candidate = result.next()
    assert candidate is not None
    result.failed(candidate.target, candidate.credential, "credential", None)
    assert result.next() is None


def in_flight(of: Target) -> int:
    return of.gates[0].figures().in_flight


def test_an_attempt_at_a_target_with_a_bound_holds_a_slot() -> None:
    only = bounded("a")
    candidate = candidates(only).next()
    assert candidate is not None
    assert candidate.slots is not None
    assert in_flight(only) == 1


def test_a_target_without_a_free_slot_comes_after_all_others() -> None:
    a, b, c = full("a"), bounded("b"), target(Client(), name="c")
    assert attempted(candidates(a, b, c), 2) == [b, c]


def test_a_failed_attempt_gives_its_slot_back() -> None:
    only = bounded("a")
    of = candidates(only)
    candidate = of.next()
    assert candidate is not None
    assert of.hold_slots(candidate) is candidate.slots
    of.failed(only, None, "5xx", None)
    assert in_flight(only) == 0


def test_a_request_waits_for_a_slot_where_all_targets_are_full() -> None:
    a, b = full("a", size=1), full("b", size=1)
    record = RequestRecord()
    of = candidates(a, b, clock=time.monotonic, record=record)
    waiting = gevent.spawn(of.next)
    gevent.sleep(0.02)
    a.gates[0].release(1.0)
    candidate = waiting.get(timeout=PATIENCE)
    assert candidate is not None
    assert candidate.target is a
    assert record.queue_time == record.wait_time > 0


def test_a_slot_that_becomes_free_at_the_second_target_is_taken() -> None:
    a, b, c = (full(name, size=1) for name in "abc")
    waiting = gevent.spawn(candidates(a, b, c).next)
    gevent.sleep(0.001)
    b.gates[0].release(1.0)
    candidate = waiting.get(timeout=PATIENCE)
    assert candidate is not None
    assert candidate.target is b
    assert [target.gates[0].figures() for target in (a, b, c)] == [Figures(1, 0)] * 3


def test_after_a_failure_there_the_other_full_targets_are_waited_for() -> None:
    a, b = (full(name, size=1) for name in "ab")
    of = candidates(a, b)
    waiting = gevent.spawn(attempted, of, 2)
    gevent.sleep(0.001)
    for freed in (b, a):
        freed.gates[0].release(1.0)
        gevent.sleep(0.001)
    assert waiting.get(timeout=PATIENCE) == [b, a]


def test_a_gate_of_several_targets_is_looked_at_and_waited_for_once() -> None:
    one = full("a", size=1, wait=0.02)
    gate, entered = one.gates[0], []
    try_enter = gate.try_enter
    gate.try_enter = lambda rank: entered.append(rank) or try_enter(rank)  # type: ignore[func-returns-value,method-assign]
    of = candidates(*(replace(one, address=address) for address in "abc"), clock=time.monotonic)
    assert of.next() is None
    assert gate.results == {"admitted": 0, "full": 0, "shed": 0, "timeout": 1}
    assert len(entered) == 3  # the first look, the one before the wait, the one of a retry


def test_a_gate_that_had_no_slot_in_time_is_not_waited_for_before_each_retry() -> None:
    busy, failing = full("a", size=1, wait=0.02), target(Client(), name="b", retry=Retry(3))
    of = candidates(busy, failing, clock=time.monotonic)
    assert attempted(of, 4) == [failing, failing, failing, None]
    assert busy.gates[0].results["timeout"] == 1


def test_a_slot_that_is_free_before_a_retry_is_taken() -> None:
    busy, failing = full("a"), target(Client(), name="b", retry=Retry(3))
    of = candidates(busy, failing)
    assert attempted(of, 2) == [failing, failing]
    busy.gates[0].release(1.0)
    assert attempted(of, 1) == [busy]


def test_a_full_queue_leads_to_the_next_target_and_then_to_a_429() -> None:
    a, b = full("a"), full("b")
    of = candidates(a, b)
    assert of.next() is None
    error = of.unavailable()
    assert (error.status, error.code) == (429, "upstream_busy")
    assert ("retry-after", "1") in error.headers


@each(
    "sizes,words",
    [
        ((0, 0), "no more may wait"),
        ((1, 1), "no slot became free in time"),
        ((0, 1), "no slot became free in time"),
    ],
)
def test_the_429_says_whether_the_request_has_waited(sizes, words) -> None:
    of = candidates(*[full(str(at), size, wait=0.02) for at, size in enumerate(sizes)])
    assert of.next() is None
    assert words in of.unavailable().message


def test_the_429_of_a_request_that_was_shed_says_so() -> None:
    only = full("a", size=1)
    of = candidates(only, rank=NORMAL - 1)
    low = gevent.spawn(of.next)
    gevent.sleep(0)
    high = gevent.spawn(only.gates[0].wait, NORMAL, 5.0)
    assert low.get(timeout=PATIENCE) is None
    assert "one of higher priority took the place" in of.unavailable().message
    high.kill()


def test_a_request_that_cannot_wait_has_waited_for_nothing() -> None:
    record = RequestRecord()
    of = candidates(full("a"), clock=time.monotonic, record=record)
    assert of.next() is None
    of.unavailable()
    assert (record.queue_time, record.limit) == (0.0, "max_in_flight")


def test_a_target_that_is_out_takes_no_place_and_is_not_waited_for() -> None:
    only = full("a", size=1, breaker=BreakerConfig(failures=1))
    only.state.failed("5xx", 0.0)
    of = candidates(only)
    assert of.next() is None
    assert of.unavailable().code == "upstream_unavailable"


def test_a_target_that_went_out_during_the_wait_is_not_attempted_and_its_place_is_free() -> None:
    only = full("a", size=1, breaker=BreakerConfig(failures=1))
    of = candidates(only)
    waiting = gevent.spawn(of.next)
    gevent.sleep(0)
    only.state.failed("5xx", 0.0)
    only.gates[0].release(1.0)
    assert waiting.get(timeout=PATIENCE) is None
    assert in_flight(only) == 0


def test_an_attempt_beyond_the_retry_budget_keeps_no_place() -> None:
    only = bounded("a", retry=Retry(attempts=2, budget=0.0))
    first = replace(only, gates=())
    only.upstream.budget = Budget(0.0, spare=0)
    of = candidates(first, only)
    assert attempted(of, 2) == [first, None]
    assert in_flight(only) == 0


@pytest.mark.parametrize(("failure", "count"), [("connect", 3), ("5xx", 1)])
def test_another_address_takes_from_the_budget_unless_no_connection_was_possible(
    failure: str, count: int
) -> None:
    west = target(Client(), retry=Retry(attempts=2))
    west.upstream.budget = Budget(0.0, spare=0)
    of = candidates(*(replace(west, address=address) for address in "abc"))
    addresses = []
    while (candidate := of.next()) is not None:
        addresses.append(candidate.target.address)
        of.failed(candidate.target, None, failure, None)
    assert addresses == [*"abc"][:count]


def test_a_retry_takes_its_place_after_its_wait() -> None:
    only = bounded("a", retry=Retry(attempts=2))
    of = candidates(only)
    first = of.next()
    assert first is not None
    of.hold_slots(first)
    of.failed(only, None, "5xx", None)
    again = of.next()
    assert again is not None
    assert again.slots is None
    assert in_flight(only) == 0
    assert of.hold_slots(again) is not None
    assert in_flight(only) == 1


def test_a_higher_rank_is_admitted_first() -> None:
    only = full("a", size=2)
    low = gevent.spawn(candidates(only, rank=NORMAL - 1).next)
    gevent.sleep(0)
    high = gevent.spawn(candidates(only, rank=NORMAL + 1).next)
    gevent.sleep(0)
    only.gates[0].release(1.0)
    assert high.get(timeout=PATIENCE) is not None
    assert not low.ready()
    low.kill()

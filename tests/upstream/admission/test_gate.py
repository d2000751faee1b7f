"""One bound and those who wait for it, within one worker."""

from __future__ import annotations

from collections.abc import Callable

import gevent
import pytest
from gevent import GreenletExit

from engine.upstream.admission.gate import Gate, GateConfig, Wait
from engine.values.admission import NORMAL, Figures
from tests.support.admission import QueueInProcess
from tests.support.waiting import PATIENCE

LOW, HIGH = NORMAL - 1, NORMAL + 1


@pytest.fixture
def queue() -> QueueInProcess:
    return QueueInProcess()


@pytest.fixture
def gate(queue) -> Gate:
    """One slot, and room for two who wait."""
    return Gate("vendor", "", GateConfig(1, 2, 5.0), queue)


def until(condition: Callable[[], bool]) -> None:
    with gevent.Timeout(10):
        while not condition():
            gevent.sleep(0)


def waiting(gate: Gate, rank: int = NORMAL, timeout: float = 5.0) -> gevent.Greenlet:
    """A greenlet that waits in the queue."""
    before = gate.figures().waiting
    greenlet = gevent.spawn(gate.wait, rank, timeout)
    until(lambda: greenlet.ready() or gate.figures().waiting > before)
    return greenlet


def test_a_place_is_taken_and_given_back(gate):
    assert gate.try_enter(NORMAL)
    assert not gate.try_enter(HIGH)
    gate.release(0.1)
    assert gate.try_enter(NORMAL)


def test_who_waits_gets_the_place_that_is_given_back(gate):
    gate.try_enter(NORMAL)
    greenlet = waiting(gate)
    gate.release(0.1)
    assert greenlet.get(timeout=PATIENCE) is Wait.ADMITTED
    assert gate.figures() == Figures(1, 0)


def test_a_place_that_another_worker_gives_back_is_noticed(gate, queue):
    queue.holder = 2
    gate.try_enter(NORMAL)
    queue.holder = 1
    greenlet = waiting(gate)
    queue.state.release(2)
    assert greenlet.get(timeout=PATIENCE) is Wait.ADMITTED


def test_a_full_queue_refuses_at_once(gate):
    gate.try_enter(NORMAL)
    greenlets = [waiting(gate) for _ in range(2)]
    assert gate.wait(NORMAL, 5.0) is Wait.FULL
    gevent.killall(greenlets)


def test_a_full_queue_sheds_a_lower_priority(gate):
    gate.try_enter(NORMAL)
    first, last = waiting(gate, LOW), waiting(gate, LOW)
    high = gevent.spawn(gate.wait, HIGH, 5.0)
    assert last.get(timeout=PATIENCE) is Wait.SHED
    assert not first.ready()
    gate.release(0.1)
    assert high.get(timeout=PATIENCE) is Wait.ADMITTED
    gevent.killall([first])


def test_a_wait_ends_with_its_time(queue):
    gate = Gate("vendor", "", GateConfig(1, 2, 0.02), queue)
    gate.try_enter(NORMAL)
    assert gate.wait(NORMAL, 5.0) is Wait.TIMEOUT
    assert gate.figures() == Figures(1, 0)


def test_the_time_of_a_request_ends_its_wait_earlier(gate):
    gate.try_enter(NORMAL)
    assert gate.wait(NORMAL, 0.02) is Wait.TIMEOUT


def test_a_ticket_whose_time_is_over_is_no_shed_one(queue):
    now = [100.0]
    gate = Gate("vendor", "", GateConfig(1, 2, 5.0), queue, clock=lambda: now[0])
    gate.try_enter(NORMAL)
    greenlet = waiting(gate)
    now[0], queue.now = 106.0, 106 * 10**6
    assert greenlet.get(timeout=PATIENCE) is Wait.TIMEOUT


def test_a_request_without_time_does_not_wait(gate):
    gate.try_enter(NORMAL)
    assert gate.wait(NORMAL, 0.0) is Wait.FULL


def test_who_leaves_while_he_waits_keeps_no_ticket(gate):
    gate.try_enter(NORMAL)
    greenlet = waiting(gate)
    greenlet.kill(GreenletExit)
    assert gate.figures() == Figures(1, 0)


def test_who_leaves_after_he_was_admitted_passes_the_place_on(gate):
    """A slot was given to a greenlet that is killed before it runs again."""
    gate.try_enter(NORMAL)
    leaving, following = waiting(gate), waiting(gate)
    leaving.kill(GreenletExit, block=False)
    gate.release(0.1)
    assert following.get(timeout=PATIENCE) is Wait.ADMITTED
    assert gate.figures() == Figures(1, 0)


def test_ends_of_waits_and_their_seconds_are_counted(queue):
    now = [0.0]
    gate = Gate("vendor", "", GateConfig(1, 1, 5.0), queue, clock=lambda: now[0])
    gate.try_enter(NORMAL)
    greenlet = waiting(gate)
    now[0] = 2.0
    gate.release(1.0)
    greenlet.get(timeout=PATIENCE)
    gate.wait(NORMAL, 0.0)
    assert gate.results == {Wait.ADMITTED: 1, Wait.FULL: 1, Wait.SHED: 0, Wait.TIMEOUT: 0}
    assert gate.waited == 2.0


def test_the_time_to_ask_again_grows_with_the_queue_and_the_time_of_a_request(gate):
    gate.try_enter(NORMAL)
    assert gate.retry_after() == 1.0
    for _ in range(200):
        gate.release(10.0)
        gate.try_enter(NORMAL)
    assert gate.retry_after() == 10.0
    greenlet = waiting(gate)
    assert gate.retry_after() == 20.0
    greenlet.kill()
    for _ in range(200):
        gate.release(1000.0)
        gate.try_enter(NORMAL)
    assert gate.retry_after() == 60.0

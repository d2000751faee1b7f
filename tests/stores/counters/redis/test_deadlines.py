"""How long calls wait for a Redis server: on a test's clock, and ticks that the test makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gevent
import pytest
from gevent.event import Event

from engine.stores.counters.redis.deadlines import CallDeadlines, Late
from tests.support.clock import Clock

TIMEOUT, AWAY_AFTER = 50.0, 20.0
TICK = AWAY_AFTER / 10


class Calls:
    """Calls that wait until the test ends them."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.deadlines = CallDeadlines(TIMEOUT, AWAY_AFTER, self.clock)
        self.late: dict[str, bool] = {}

    def begin(self, name: str) -> Callable[[], None]:
        """A call begins; the returned function answers it."""
        answer = Event()

        def wait() -> None:
            self.deadlines.start()
            try:
                answer.wait()
                self.deadlines.answered()
            except Late as late:
                self.late[name] = late.is_silent
            finally:
                self.deadlines.stop()

        greenlet = gevent.spawn(wait)
        gevent.sleep(0)

        def end() -> None:
            answer.set()
            greenlet.join()

        return end

    def wait(self, seconds: float, turns: int) -> None:
        """Time passes, in which the event loop turns so often."""
        for _ in range(turns):
            self.clock.now += seconds / turns
            gevent.get_hub().loop.run_callback(self.deadlines.tick)
            gevent.sleep(0)


@pytest.fixture
def calls() -> Iterator[Calls]:
    calls = Calls()
    yield calls
    calls.deadlines.close()


def test_a_server_that_answers_nothing_is_silent(calls):
    calls.begin("a")
    calls.wait(AWAY_AFTER - TICK, turns=9)
    assert calls.late == {}
    calls.begin("b")
    calls.wait(TICK, turns=1)
    assert calls.late == {"a": True, "b": True}


def test_time_in_which_the_worker_got_no_cpu_is_not_counted(calls):
    calls.begin("a")
    calls.wait(1000 * AWAY_AFTER, turns=9)
    assert calls.late == {}
    calls.wait(TICK, turns=1)
    assert calls.late == {"a": True}


def test_while_others_are_answered_a_call_waits_for_the_whole_timeout(calls):
    calls.begin("a")
    for _ in range(4):
        end = calls.begin("answered")
        calls.wait(10.0, turns=10)
        end()
    assert calls.late == {}
    end = calls.begin("answered")
    calls.wait(10.0, turns=10)
    assert calls.late == {"a": False}
    end()


def test_a_server_is_not_silent_while_no_call_waits(calls):
    calls.begin("a")()
    calls.wait(10 * AWAY_AFTER, turns=100)
    calls.begin("b")
    calls.wait(AWAY_AFTER - TICK, turns=9)
    assert calls.late == {}


def test_a_call_that_ended_is_not_late(calls):
    calls.begin("a")()
    calls.begin("b")
    calls.wait(AWAY_AFTER, turns=10)
    assert calls.late == {"b": True}


def test_a_timeout_below_the_silence_is_the_silence():
    calls = Calls()
    calls.deadlines = CallDeadlines(3.0, AWAY_AFTER, calls.clock)
    calls.begin("a")
    calls.wait(3.3, turns=11)
    assert calls.late == {"a": True}
    calls.deadlines.close()

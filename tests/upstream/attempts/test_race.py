"""Two functions beside each other."""

from __future__ import annotations

from collections.abc import Callable

import gevent
import pytest
from gevent.event import Event

from engine.upstream.attempts.race import Run, race


def after(event: Event, result: str) -> Callable[[], str]:
    """A function that waits for an event."""

    def run() -> str:
        event.wait()
        return result

    return run


def at_once(result: str) -> Callable[[], str]:
    return lambda: result


def results(runs: list[Run[str]]) -> list[str | None]:
    return [run.result for run in runs]


def any_wins(result: str) -> bool:
    return True


def succeeds(result: str) -> bool:
    return result != "failure"


def nobody() -> None:
    raise AssertionError("a second function was asked for")


def test_a_quick_first_one_is_alone():
    assert results(race(at_once("first"), 60.0, nobody, any_wins)) == ["first"]


def test_a_second_one_wins_where_the_first_takes_long_and_the_first_is_killed():
    runs = race(after(Event(), "first"), 0.01, lambda: at_once("second"), any_wins)
    assert results(runs) == [None, "second"]
    assert all(run.greenlet.dead for run in runs)


def test_the_first_one_may_still_win():
    go = Event()
    gevent.spawn_later(0.05, go.set)
    runs = race(after(go, "first"), 0.01, lambda: after(Event(), "second"), any_wins)
    assert results(runs) == [None, "first"]


def test_without_a_second_one_the_first_is_waited_for():
    go = Event()
    gevent.spawn_later(0.05, go.set)
    assert results(race(after(go, "first"), 0.01, lambda: None, any_wins)) == ["first"]


def test_a_failure_waits_for_the_other_one():
    go = Event()
    gevent.spawn_later(0.05, go.set)
    runs = race(after(go, "first"), 0.01, lambda: at_once("failure"), succeeds)
    assert results(runs) == ["failure", "first"]


def test_where_both_fail_the_last_decides():
    go = Event()
    gevent.spawn_later(0.05, go.set)
    runs = race(after(go, "failure"), 0.01, lambda: at_once("failure"), succeeds)
    assert results(runs) == ["failure", "failure"]


def test_an_error_is_kept_and_loses_to_a_result():
    def fails() -> str:
        raise ValueError("no")

    go = Event()
    gevent.spawn_later(0.05, go.set)
    runs = race(after(go, "first"), 0.01, lambda: fails, any_wins)
    assert str(runs[0].error) == "no"
    assert runs[1].result == "first"


def test_when_the_race_is_interrupted_nothing_runs_on():
    ended = []

    def run() -> str:
        try:
            Event().wait()
        finally:
            ended.append(1)
        return ""

    racing = gevent.spawn(race, run, 0.01, lambda: run, any_wins)
    gevent.sleep(0.05)
    racing.kill()
    assert ended == [1, 1]


@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_a_second_one_begins_only_after_the_delay(delay):
    began: list[float] = []
    hub = gevent.get_hub().loop

    def second() -> Callable[[], str]:
        began.append(hub.now())
        return at_once("second")

    hub.update_now()
    start = hub.now()
    race(after(Event(), "first"), delay, second, any_wins)
    assert began[0] - start >= delay

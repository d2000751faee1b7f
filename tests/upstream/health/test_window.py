"""What happened within a window, from totals."""

from __future__ import annotations

import pytest

from engine.upstream.health.outliers import Activity
from engine.upstream.health.window import Totals, Window, scaled_log


def totals(answers: int = 0, failures: int = 0, seconds: float = 1.0, waiting: int = 0) -> Totals:
    return Totals(answers, failures, answers * scaled_log(seconds), waiting)


def test_what_was_counted_before_the_first_look_does_not_count() -> None:
    window = Window(30.0)
    assert window.activity(1.0, totals(50, 5)) == Activity()
    assert window.activity(2.0, totals(53, 7))[:2] == (3, 2)


def test_what_is_older_than_the_window_does_not_count() -> None:
    window = Window(30.0)
    counts = [window.activity(float(now), totals(now))[0] for now in range(300)]
    assert counts[:25] == list(range(25))
    assert all(25 <= count <= 31 for count in counts[31:])


@pytest.mark.parametrize("pause", [1.0, 20.0, 29.0, 40.0])
def test_what_ends_after_a_pause_counts_as_long_as_the_window_lasts(pause: float) -> None:
    """While nothing ends and nothing waits, nobody looks."""
    window = Window(30.0)
    window.activity(0.0, totals(0))
    begin = 0.0 + pause
    counts = [window.activity(begin + n, totals(7))[0] for n in range(40)]
    assert counts[:25] == [7] * 25
    assert counts[32:] == [0] * 8


@pytest.mark.parametrize(
    ("last_waiting", "now", "idle"),
    [
        (0, (5, 1, 0), True),
        (0, (6, 1, 0), False),
        (0, (5, 2, 0), False),
        (0, (5, 1, 1), False),
        (1, (5, 1, 0), False),  # its caller left
    ],
)
def test_it_is_idle_while_nothing_ends_and_nothing_waits(
    last_waiting: int, now: tuple[int, int, int], idle: bool
) -> None:
    window = Window(30.0)
    assert not window.is_idle(0, 0, 0)
    window.activity(0.0, totals(5, 1, waiting=last_waiting))
    assert window.is_idle(*now) is idle


def test_the_typical_time_is_the_geometric_mean() -> None:
    window = Window(30.0)
    window.activity(0.0, Totals(0, 0, 0, 0))
    logs = 9 * scaled_log(0.5) + scaled_log(60.0)
    activity = window.activity(1.0, Totals(10, 0, logs, 0))
    assert activity.latency == pytest.approx(0.5 * 120**0.1, rel=0.001)


def test_silence_lasts_as_long_as_requests_wait_and_none_ends() -> None:
    window = Window(30.0)
    looks = [(0, 0, 0), (1, 0, 1), (2, 0, 2), (5, 0, 3), (6, 1, 2), (7, 1, 2), (8, 1, 0), (9, 1, 1)]
    silent = [window.activity(now, totals(ended, waiting=w)).silent for now, ended, w in looks]
    assert silent == [0, 0, 1, 4, 0, 1, 0, 0]


def test_a_failure_ends_a_silence() -> None:
    window = Window(30.0)
    window.activity(0.0, totals(waiting=3))
    assert window.activity(5.0, totals(waiting=3)).silent == 5.0
    assert window.activity(6.0, totals(failures=1, waiting=2)).silent == 0.0


def test_totals_that_fall_are_of_a_worker_that_ended() -> None:
    window = Window(30.0)
    window.activity(0.0, totals(100, 10))
    assert window.activity(1.0, totals(110, 10))[:2] == (10, 0)
    assert window.activity(2.0, totals(40, 12))[:2] == (0, 0)
    assert window.activity(3.0, totals(45, 12))[:2] == (5, 0)


def test_after_a_restart_nothing_counts() -> None:
    window = Window(30.0)
    window.activity(0.0, totals(0))
    window.restart()
    assert window.activity(1.0, totals(10, 10, waiting=5)) == Activity(waiting=5)

"""The pause before a worker is started in place of one that failed."""

from engine.server.boot_backoff import BootBackoff
from tests.support.clock import Clock


def failing(clock: Clock, backoff: BootBackoff, times: int) -> list[float]:
    """The pauses of workers that fail as soon as they have started."""
    pauses = []
    for _ in range(times):
        pauses.append(backoff.fail())
        clock.now += pauses[-1]
    return pauses


def test_each_pause_is_twice_the_one_before_up_to_the_longest():
    clock = Clock(1000.0)
    assert failing(clock, BootBackoff(clock), 6) == [2, 4, 8, 16, 30, 30]


def test_no_worker_starts_before_the_pause_is_over():
    clock = Clock(1000.0)
    backoff = BootBackoff(clock)
    assert backoff.is_over
    backoff.fail()
    clock.now += 1.9
    assert not backoff.is_over
    clock.now += 0.1
    assert backoff.is_over


def test_a_worker_that_lasts_ends_the_series():
    clock = Clock(1000.0)
    backoff = BootBackoff(clock)
    failing(clock, backoff, 4)
    clock.now += 31
    assert backoff.fail() == 2


def test_a_reload_resets_the_backoff():
    clock = Clock(1000.0)
    backoff = BootBackoff(clock)
    failing(clock, backoff, 4)
    backoff.fail()
    backoff.reset()
    assert backoff.is_over
    assert backoff.fail() == 2

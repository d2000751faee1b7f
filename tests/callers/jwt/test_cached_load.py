"""A value is fetched once for all who wait, kept while its source is away, and renewed."""

import gevent
import pytest

from engine.callers.jwt.cached_load import MAX_AGE, MIN_INTERVAL, STALE_AGE, CachedLoad
from engine.callers.jwt.refusal import KeysUnavailable
from tests.support.clock import Clock


class Source:
    """Its value, and how often it was asked for; None: it does not answer."""

    def __init__(self, value):
        self.value, self.asked = value, 0
        self.clock = Clock(1000.0)
        self.cached = CachedLoad("a value", self.load, self.clock)

    def load(self):
        self.asked += 1
        gevent.sleep(0)
        if self.value is None:
            raise KeysUnavailable("away")
        return self.value


def test_a_value_is_fetched_once_for_all_who_wait():
    source = Source("one")
    tasks = [gevent.spawn(source.cached.get) for _ in range(5)]
    assert [task.get() for task in tasks] == ["one"] * 5
    assert (source.asked, source.cached.version) == (1, 1)


def test_a_source_that_never_answered_is_asked_at_most_once_a_second():
    source = Source(None)
    for _ in range(100):
        with pytest.raises(KeysUnavailable, match="away"):
            source.cached.get()
    assert source.asked == 1
    source.clock.now += 1
    source.value = "one"
    assert source.cached.get() == "one"


def test_an_old_value_is_used_while_a_new_one_is_fetched_and_its_source_is_away():
    source = Source("one")
    source.cached.get()
    source.value = None
    source.clock.now += MAX_AGE + STALE_AGE
    assert source.cached.get() == "one"
    gevent.sleep(0.01)
    source.clock.now += MIN_INTERVAL
    with pytest.raises(KeysUnavailable, match="away"):
        source.cached.get()


def test_a_value_is_fetched_before_its_time_once_in_a_while():
    source = Source("one")
    source.cached.get()
    assert not source.cached.reload()
    source.clock.now += MIN_INTERVAL
    source.value = "two"
    assert source.cached.reload()
    assert (source.cached.value, source.cached.version) == ("two", 2)

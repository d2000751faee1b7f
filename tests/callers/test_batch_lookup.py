"""Lookups of keys that wait at the same time."""

from __future__ import annotations

import gevent
import pytest
from gevent.event import Event

from engine.callers.batch_lookup import Batches, within
from engine.stores.database.failures import DatabaseAway
from tests.support.waiting import PATIENCE


class Store:
    """Answers with the key in capitals, None for `none`; remembers what each call asked for."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.gate = Event()
        self.gate.set()

    def look_up(self, keys):
        self.calls.append(list(keys))
        self.gate.wait(PATIENCE)
        if "error" in keys:
            raise ConnectionError("the store is away")
        return {key: key.upper() for key in keys if key != "none"}


@pytest.fixture
def store():
    return Store()


def ask(batches, *keys):
    """The results of all keys, asked for at the same time."""
    results = [gevent.spawn(batches.get, key) for key in keys]
    gevent.joinall(results, timeout=PATIENCE)
    return [result.value for result in results]


def test_keys_that_wait_together_are_one_call(store):
    assert ask(Batches(store.look_up), "a", "b", "c") == ["A", "B", "C"]
    assert store.calls == [["a", "b", "c"]]


def test_a_key_that_several_wait_for_is_looked_up_once(store):
    assert ask(Batches(store.look_up), "a", "a", "a") == ["A", "A", "A"]
    assert store.calls == [["a"]]


def test_a_key_is_not_kept_after_its_answer(store):
    batches = Batches(store.look_up)
    assert ask(batches, "a") + ask(batches, "a") == ["A", "A"]
    assert store.calls == [["a"], ["a"]]


def test_a_key_without_a_value_returns_none(store):
    assert ask(Batches(store.look_up), "a", "none") == ["A", None]


def test_a_batch_has_a_size(store):
    assert ask(Batches(store.look_up, size=2), "a", "b", "c") == ["A", "B", "C"]
    assert store.calls == [["a", "b"], ["c"]]


def test_at_most_some_calls_run_at_once(store):
    store.gate.clear()
    batches = Batches(store.look_up, size=1, concurrency=2)
    results = [batches.start(key) for key in ("a", "b", "c")]
    gevent.idle()
    assert store.calls == [["a"], ["b"]]
    store.gate.set()
    assert [result.get(timeout=PATIENCE) for result in results] == ["A", "B", "C"]


def test_a_failure_is_raised_in_all_waiters_and_the_next_batch_runs(store):
    batches = Batches(store.look_up)
    waiting = [batches.start(key) for key in ("a", "error")]
    for result in waiting:
        with pytest.raises(ConnectionError):
            result.get(timeout=PATIENCE)
    assert ask(batches, "a") == ["A"]


def test_a_query_in_time_has_its_result() -> None:
    assert within(PATIENCE, lambda: 7) == 7


def test_a_query_without_an_answer_is_a_database_that_is_away() -> None:
    with pytest.raises(DatabaseAway, match=r"^no answer within 0\.01 s$"):
        within(0.01, lambda: gevent.sleep(PATIENCE))


def test_the_timeout_of_somebody_else_goes_on_to_them() -> None:
    with pytest.raises(gevent.Timeout) as raised, gevent.Timeout(0.01) as outer:
        within(PATIENCE, lambda: gevent.sleep(PATIENCE))
    assert raised.value is outer

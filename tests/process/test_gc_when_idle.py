"""Garbage is collected when the event loop is idle, and at the latest after so many objects."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import gevent
import pytest

from engine.process.gc_when_idle import MAX_NEW, IdleCollection
from tests.support.waiting import until


class Cycle:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


class Generations:
    """The generations that were collected in this process, by whomever."""

    def __init__(self) -> None:
        self.collected: list[int] = []

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            self.collected.append(info["generation"])


@pytest.fixture
def generations() -> Iterator[Generations]:
    thresholds, generations = gc.get_threshold(), Generations()
    gc.collect()
    gc.freeze()
    gc.callbacks.append(generations)
    yield generations
    gc.callbacks.remove(generations)
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.fixture
def collection(generations: Generations) -> Iterator[IdleCollection]:
    collection = IdleCollection()
    yield collection
    collection.stop()


def make(count: int) -> weakref.WeakSet[Cycle]:
    """Garbage: those that live are in the set."""
    garbage: weakref.WeakSet[Cycle] = weakref.WeakSet()
    for _ in range(count):
        garbage.add(Cycle())
    return garbage


def test_garbage_is_collected_when_the_loop_is_idle(
    collection: IdleCollection, generations: Generations
) -> None:
    collection.start()
    garbage = make(5_000)
    assert (len(garbage), generations.collected) == (5_000, [])
    until(lambda: not garbage, sleep=gevent.sleep)


def test_it_waits_until_the_loop_is_idle(generations: Generations) -> None:
    turn = gevent.event.Event()
    collection = IdleCollection(wait_until_idle=lambda: void(turn.wait()))
    collection.start()
    garbage = make(5_000)
    gevent.sleep(0)
    assert (len(garbage), generations.collected) == (5_000, [])
    turn.set()
    until(lambda: not garbage, sleep=gevent.sleep)
    collection.stop()


def void(_: object) -> None:
    """No result."""


def test_a_few_objects_are_no_reason(collection: IdleCollection, generations: Generations) -> None:
    collection.start()
    garbage = make(100)
    gevent.sleep(0)
    assert (len(garbage), generations.collected) == (100, [])


def test_a_loop_that_is_never_idle_keeps_a_bounded_amount(
    collection: IdleCollection, generations: Generations
) -> None:
    collection.start()  # its greenlet never runs here
    garbage: weakref.WeakSet[Cycle] = weakref.WeakSet()
    most = 0
    for _ in range(3 * MAX_NEW):
        garbage.add(Cycle())
        most = max(most, len(garbage))
    assert MAX_NEW / 4 < most <= MAX_NEW
    assert generations.collected


def test_all_objects_are_looked_at_in_turn_but_for_a_small_part_of_the_time(
    generations: Generations,
) -> None:
    slow = [0.0] * 10 + [1.0, 1.5]  # ten young collections, and one of all that takes 0.5 s
    soon, later = [2.0] * 21, [501.6, 501.7]
    times = iter(slow + soon + later)
    collection = IdleCollection(lambda: next(times))
    for _ in range(33):
        collection.collect()
    assert generations.collected == [1] * 10 + [2] + [1] * 21 + [2]

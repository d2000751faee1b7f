"""The places of names, as two workers read and write them."""

from __future__ import annotations

import array
from collections.abc import Iterator

import pytest

from engine.machine.names import NamePlaces, digest_of
from engine.machine.worker_locks import locked

RING = 4


@pytest.fixture
def fd(tmp_path) -> Iterator[int]:
    with locked(tmp_path / "names") as fd:
        yield fd


@pytest.fixture
def workers() -> tuple[NamePlaces, NamePlaces]:
    ring = memoryview(array.array("q", [0] * (1 + RING)))
    return NamePlaces(ring), NamePlaces(ring)


def test_a_name_has_the_same_place_for_all(fd, workers):
    one, other = workers
    assert [one.append(fd, digest_of("a")), one.append(fd, digest_of("b"))] == [0, 1]
    other.read(fd)
    assert [other.find(digest_of(name)) for name in ("a", "b", "c")] == [0, 1, None]


@pytest.mark.parametrize("count", [1, RING, RING + 1, 3 * RING])
def test_a_place_with_another_name_is_seen_by_all(fd, workers, count):
    one, other = workers
    for number in range(2 * RING):
        one.append(fd, digest_of(f"a {number}"))
    other.read(fd)
    for number in range(count):
        one.give(fd, number % (2 * RING), digest_of(f"b {number}"))
    other.read(fd)
    for worker in workers:
        assert worker.find(digest_of(f"b {count - 1}")) == (count - 1) % (2 * RING)
        assert worker.find(digest_of("a 0")) is None
        assert len(worker) == 2 * RING


def test_a_name_may_return_to_another_place(fd, workers):
    one, other = workers
    for name in ("a", "b"):
        one.append(fd, digest_of(name))
    other.read(fd)
    one.give(fd, 0, digest_of("c"))
    one.give(fd, 1, digest_of("a"))
    one.give(fd, 0, digest_of("b"))
    other.read(fd)
    assert [other.find(digest_of(name)) for name in ("a", "b", "c")] == [1, 0, None]


def test_a_record_that_was_cut_off_is_no_place(fd, workers, tmp_path):
    one, other = workers
    one.append(fd, digest_of("a"))
    with (tmp_path / "names").open("ab") as file:
        file.write(b"torn")
    other.read(fd)
    assert other.append(fd, digest_of("b")) == 1
    one.read(fd)
    assert [one.find(digest_of("a")), one.find(digest_of("b"))] == [0, 1]

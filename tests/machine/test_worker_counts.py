"""What each worker holds, as bytes."""

from __future__ import annotations

from engine.machine import worker_counts


def test_a_record_has_the_count_of_each_worker():
    record = worker_counts.write({7: 2, 1 << 40: 0})
    assert len(record) == 2 * worker_counts.PAIR.size
    assert worker_counts.read(record) == {7: 2, 1 << 40: 0}
    assert worker_counts.read(None) == worker_counts.read(worker_counts.write({})) == {}


def test_workers_that_are_dead_or_hold_nothing_are_left_out():
    assert worker_counts.alive_counts({1: 2, 2: 3, 3: 0}, {1, 3}.__contains__) == {1: 2}

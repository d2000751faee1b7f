"""What each worker holds, as bytes."""

from __future__ import annotations

from engine.machine import holders


def test_a_record_has_the_count_of_each_worker():
    record = holders.write({7: 2, 1 << 40: 0})
    assert len(record) == 2 * holders.PAIR.size
    assert holders.read(record) == {7: 2, 1 << 40: 0}
    assert holders.read(None) == holders.read(holders.write({})) == {}


def test_workers_that_are_dead_or_hold_nothing_are_left_out():
    assert holders.alive_counts({1: 2, 2: 3, 3: 0}, {1, 3}.__contains__) == {1: 2}

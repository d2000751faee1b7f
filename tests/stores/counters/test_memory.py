"""Counters in shared memory: processes of one machine, room for records, another database."""

from __future__ import annotations

import logging
import os
import shutil

import lmdb
import pytest

from engine.machine.shared_memory import SharedMemory
from engine.stores.counters.memory import MemoryCounters
from engine.values.calendar import Calendar
from engine.values.counters import CountersAway
from tests.support.clock import MicrosecondClock
from tests.support.counters import Limit, records_in, remaining_of, shared_rate, take


def test_two_stores_of_one_process_count_together(path, store):
    second_store = MemoryCounters(path, clock=MicrosecondClock())
    assert take(store, shared_rate(cost=2)).denied is None
    assert take(second_store, shared_rate(cost=2)).denied == 0
    second_store.close()
    assert take(store, shared_rate(cost=1)).denied is None


def test_counters_outlive_a_closed_store(path, store):
    take(store, shared_rate(cost=3))
    store.close()
    assert take(store, shared_rate()).denied == 0


def test_a_removed_folder_is_created_again_within_a_second(path, store, monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    take(store, shared_rate(cost=3))
    shutil.rmtree(path)
    now += 1.5
    assert take(store, shared_rate(cost=3)).denied is None
    assert path.is_dir()


def test_a_database_that_cannot_be_opened_is_away(path, store):
    (path / "data.mdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(CountersAway, match=str(path)):
        take(store, shared_rate())


def test_without_room_counters_are_away_and_corrections_are_logged(
    path, store, monkeypatch, caplog
):
    """As at the first request of a worker, or after the folder was removed."""

    def full(fd, start, size):
        raise OSError(28, "No space left on device")

    receipt = take(store, shared_rate(cost=3)).receipt
    store.close()
    shutil.rmtree(path)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(CountersAway, match=r"no room for \d+ bytes of counters"):
        take(store, shared_rate())
    store.settle(receipt, [1])
    assert "the costs of a request are not corrected: " in caplog.text
    assert "no room" in caplog.text


def test_expired_records_are_swept_as_new_ones_come(path, store, clock):
    for minute in range(20):
        for caller in range(100):
            take(store, shared_rate(f"caller-{minute}-{caller}"))
        clock.advance(70)
    assert records_in(path) < 250


def test_expired_windows_of_the_calendar_are_swept_and_others_stay(path, store, clock):
    for day in range(20):
        for caller in range(100):
            take(store, [Limit(f"caller-{day}-{caller}", 5, Calendar("day"))])
        clock.advance(86_400)
    assert 200 <= records_in(path) < 450
    assert remaining_of(store, [Limit("caller-19-99", 5, Calendar("day"))]) == [5]


def test_the_count_of_a_month_outlives_a_new_store_with_another_time_zone(path, store, clock):
    take(store, [Limit("money", 5, Calendar("month"), 5)])
    second_store = MemoryCounters(path, clock=clock, wall_clock=clock)
    assert remaining_of(second_store, [Limit("money", 5, Calendar("month", "Europe/Vienna"))]) == [
        0
    ]
    second_store.close()


def test_free_slots_are_swept(path, store):
    for caller in range(1000):
        result = take(store, [Limit(f"slots:{caller}", 5, 0)])
        store.settle(result.receipt, [1])
    assert records_in(path) < 50


def test_sweeping_keeps_records_that_still_count(store, clock):
    for caller in range(300):
        take(store, shared_rate(f"caller-{caller}", 1))
        clock.advance(0.1)
    assert all(take(store, shared_rate(f"caller-{caller}", 1)).denied == 0 for caller in range(300))


def test_full_counters_pass_requests_with_one_warning_and_recover(path, clock, caplog):
    store = MemoryCounters(path, clock=clock, size=1 << 18)
    take(store, shared_rate("first", 1))
    with caplog.at_level(logging.WARNING, "modelway"):
        for caller in range(3000):
            result = take(store, shared_rate(f"caller-{caller}", 1))
            assert result.denied is None
            store.settle(result.receipt, [5])
    assert [record.getMessage().count("full") for record in caplog.records] == [1]
    assert take(store, shared_rate("first", 1)).denied == 0
    assert take(store, shared_rate("caller-2999", 1)).denied is None
    clock.advance(70)
    for caller in range(50):
        assert take(store, shared_rate(f"later-{caller}", 1)).denied is None
    assert all(
        take(store, shared_rate(f"later-{caller}", 1)).denied == 0 for caller in range(40, 50)
    )
    store.close()


@pytest.mark.parametrize(("limit", "cost"), [(Limit("a", 2, 0), 1), (Limit("a", 2, 600.0), 0)])
def test_an_uncounted_take_is_not_refunded(path, clock, limit, cost):
    store = MemoryCounters(path, clock=clock, size=1 << 18)
    for caller in range(3000):
        take(store, shared_rate(f"caller-{caller}", 1))
    uncounted = take(store, [limit])
    clock.advance(70)
    for caller in range(50):
        take(store, shared_rate(f"later-{caller}", 1))
    assert [take(store, [limit]).denied for _ in range(3)] == [None, None, 0]
    store.settle(uncounted.receipt, [cost])
    assert take(store, [limit]).denied == 0
    store.close()


def test_a_limit_without_room_stays_uncounted_for_its_request(store, monkeypatch):
    room = iter([False, False, True])  # asked for again after more records were swept
    monkeypatch.setattr(SharedMemory, "has_room", lambda *_: next(room))
    slot = Limit("slots:a", 5, 0)
    store.settle(take(store, [slot, slot]).receipt, [1, 1])
    monkeypatch.undo()
    assert take(store, [Limit("slots:a", 5, 0, 0)]).remaining[0] == 5


def test_a_denied_request_leaves_every_record_as_it_was(store):
    take(store, [Limit("new", 1, 60.0), Limit("slots:new", 2, 0)])
    limits = [Limit("fresh", 9, 60.0), Limit("slots:new", 2, 0), Limit("new", 1, 60.0)]
    denied = take(store, limits)
    assert (denied.denied, denied.remaining) == (2, [9, 1, 0])
    untaken = [Limit(limit.key, limit.amount, limit.window, 0) for limit in limits[:2]]
    assert take(store, untaken).remaining == [9, 1]


def test_a_store_switches_to_the_database_that_another_opened(path, store):
    second_store = MemoryCounters(path, clock=MicrosecondClock())
    take(store, shared_rate(cost=1))
    take(second_store, shared_rate(cost=1))
    shutil.rmtree(path)
    third = MemoryCounters(path, clock=MicrosecondClock())
    assert take(third, shared_rate(cost=2)).denied is None
    assert take(second_store, shared_rate(cost=2)).denied == 0
    store.close()
    assert take(third, shared_rate(cost=1)).denied is None
    assert take(second_store, shared_rate(cost=1)).denied == 0
    third.close()
    second_store.close()


def test_a_late_correction_changes_nothing_in_another_database(path, store):
    slots = [Limit("slots:a", 5, 0)]
    late = take(store, slots)
    shutil.rmtree(path)
    second_store = MemoryCounters(path, clock=MicrosecondClock())
    take(second_store, slots)
    store.settle(late.receipt, [0])
    assert remaining_of(second_store, slots) == [4]
    second_store.close()


def test_a_correction_that_fails_is_logged_and_not_raised(store, monkeypatch, caplog):
    def begin(_: SharedMemory) -> None:
        raise lmdb.Error("no transaction")

    receipt = take(store, shared_rate()).receipt
    monkeypatch.setattr(SharedMemory, "begin", begin)
    with caplog.at_level(logging.WARNING, "modelway"):
        store.settle(receipt, [0])
    assert "the costs of a request are not corrected: no transaction" in caplog.text

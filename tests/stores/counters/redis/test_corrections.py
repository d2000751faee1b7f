"""The queue of corrections: when it is sent, what is sent again, its limit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gevent
import pytest
from gevent.event import Event
from redis import Connection

from engine.stores.counters.redis import corrections
from engine.stores.counters.redis.call import Unsent
from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.corrections import BATCH_DELAY, RETRY_DELAY, CorrectionQueue
from engine.stores.counters.redis.counters import RedisCounters
from engine.stores.counters.redis.deadlines import Late
from engine.stores.counters.redis.scripts import RENEW, TAKE
from engine.values.calendar import Calendar
from engine.values.counters import CountersAway
from tests.support.counters import RATE, Limit, take, wait_for_corrections
from tests.support.redis_faults import back, break_next_answer


def test_corrections_wait_until_the_server_is_back(server, monkeypatch):
    monkeypatch.setattr(corrections, "RETRY_DELAY", 0.01)
    store = RedisCounters(server.url, lease=3600.0)  # no renewal wakes what sends
    receipts = [take(store, RATE).receipt for _ in range(5)]
    server.say("SAVE")
    server.kill()
    for receipt in receipts:
        store.settle(receipt, [1])
    gevent.sleep(0.05)
    assert len(store.corrections) == 5
    server.start()
    wait_for_corrections(store)
    assert take(store, RATE).remaining[0] == 3
    store.close()


REFUSALS = {
    "a replica": ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    "no replicas": ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),
    "no permission": ("ACL SETUSER default -evalsha", "ACL SETUSER default +evalsha"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_corrections_that_are_refused_count_later(server, monkeypatch, refusal):
    """A request that used more than it took before."""
    monkeypatch.setattr(corrections, "RETRY_DELAY", 0.01)
    store = RedisCounters(server.url)
    wide = [Limit("rate:wide", 1000, 3600.0)]
    carried, sent = (take(store, wide).receipt for _ in range(2))
    begin, end = REFUSALS[refusal]
    server.say(begin)
    store.settle(carried, [500])
    with pytest.raises(CountersAway):
        take(store, wide)
    store.settle(sent, [100])
    gevent.sleep(0.1)
    assert len(store.corrections) == 2
    server.say(end)
    wait_for_corrections(store)
    back(store.ping)
    assert take(store, wide).remaining == [1000 - 500 - 100 - 1]
    store.close()


def test_corrections_whose_refusal_is_late_count_later(server, monkeypatch):
    """Their script is not loaded yet."""
    store = RedisCounters(server.url)
    wide = [Limit("rate:wide", 1000, 3600.0)]
    receipt = take(store, wide).receipt
    read, late = Connection.read_response, []

    def read_response(connection: Connection, **options: Any) -> object:
        if not late:
            late.append(Late(2.0, is_silent=False))
            raise late[0]
        server.go_on()
        return read(connection, **options)

    server.pause()
    monkeypatch.setattr(Connection, "read_response", read_response)
    store.settle(receipt, [500])
    with gevent.Timeout(10):
        while not late:
            gevent.sleep(0.01)
        while take(store, [wide[0]._replace(cost=0)]).remaining != [500]:
            gevent.sleep(0.01)
    store.close()


@pytest.mark.parametrize("window", [3600.0, Calendar("month")])
def test_corrections_are_counted_in_a_full_memory(server, window):
    """They let neither slots nor takes of slots wait."""
    store = RedisCounters(server.url)
    wide, slot = [Limit("rate:wide", 1000, window)], [Limit("slots:a", 1, 0.0)]
    carried, sent = (take(store, wide).receipt for _ in range(2))
    held = take(store, slot)
    server.say("CONFIG SET maxmemory 1")
    store.settle(carried, [500])
    store.settle(held.receipt, [0])
    assert take(store, slot).denied is None
    store.settle(sent, [100])
    wait_for_corrections(store)
    server.say("CONFIG SET maxmemory 0")
    assert take(store, wide).remaining == [1000 - 500 - 100 - 1]
    store.close()


def test_leases_are_renewed_in_a_full_memory(server):
    store = RedisCounters(server.url, lease=0.3)
    slot = [Limit("slots:a", 1, 0.0)]
    held = take(store, slot)
    server.say("CONFIG SET maxmemory 1")
    gevent.sleep(0.6)
    assert take(store, slot).denied == 0
    store.settle(held.receipt, [0])
    store.close()


def test_the_queue_of_corrections_is_bounded(server, monkeypatch, caplog):
    monkeypatch.setattr(corrections, "MAX_QUEUED", 3)
    store = RedisCounters(server.url)
    receipts = [take(store, [Limit("rate:a", 100, 60.0)]).receipt for _ in range(10)]
    server.kill()
    for receipt in receipts:
        store.settle(receipt, [0])
    assert len(store.corrections) == 3
    assert caplog.text.count("corrections are lost") == 1
    store.close()


def test_a_connection_that_the_server_closed_loses_no_correction(server):
    store = RedisCounters(server.url)
    result = take(store, RATE)
    server.say("CLIENT KILL TYPE normal SKIPME yes")
    store.settle(result.receipt, [0])
    wait_for_corrections(store)
    store.close()
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_a_released_slot_is_free_for_the_next_take(server):
    """However soon the next take comes."""
    store = RedisCounters(server.url)
    slot = [Limit("slots:next", 1, 0.0)]
    for _ in range(200):
        result = take(store, slot)
        assert result.denied is None
        store.settle(result.receipt, [1])
    store.close()


def test_a_slot_is_released_after_its_renewal(server, monkeypatch):
    store = RedisCounters(server.url, lease=0.15)
    result = take(store, [Limit("slots:a", 1, 0.0)])
    call, keys_of_take = RedisClient.call, []

    def renewing(client: RedisClient, command: Any, **options: Any) -> Any:
        if command[1] == RENEW.sha and not keys_of_take:
            store.settle(result.receipt, [1])
            keys_of_take.append(None)
            take(store, RATE)
        elif command[1] == TAKE.sha and keys_of_take == [None]:
            keys_of_take[0] = command[3 : 3 + command[2]]
        return call(client, command, **options)

    monkeypatch.setattr(RedisClient, "call", renewing)
    with gevent.Timeout(10):
        while keys_of_take in ([], [None]):
            gevent.sleep(0.01)
    assert len(keys_of_take[0]) == len(RATE), "the take carries no correction"
    wait_for_corrections(store)
    assert take(store, [Limit("slots:a", 1, 0.0)]).denied is None
    store.close()


def test_corrections_of_an_unsent_take_stay_queued(server, monkeypatch):
    store = RedisCounters(server.url)
    result = take(store, RATE)
    server.kill()
    store.settle(result.receipt, [0])
    with pytest.raises(Unsent):
        take(store, RATE)
    assert len(store.corrections) == 1
    store.close()


def test_a_take_carries_a_bounded_number_of_corrections(server, monkeypatch):
    monkeypatch.setattr(corrections, "BATCH_DELAY", 60.0)
    store = RedisCounters(server.url)
    wide = [Limit("rate:wide", 1000, 60.0)]
    receipts = [take(store, wide).receipt for _ in range(40)]
    for receipt in receipts:
        store.settle(receipt, [0])
    before = len(store.corrections)
    take(store, wide)
    assert 0 < before - len(store.corrections) < 40
    store.close()


def test_after_a_lost_answer_only_releases_of_slots_are_sent_again(server, monkeypatch):
    monkeypatch.setattr(corrections, "BATCH_DELAY", 60.0)
    store = RedisCounters(server.url)
    both = [*RATE, Limit("slots:a", 5, 0.0)]
    store.settle(take(store, both).receipt, [1, 1])

    break_next_answer(monkeypatch)
    with pytest.raises(CountersAway):
        take(store, both)
    assert len(store.corrections) == 2, "the slot of the first, and that of the one that broke"
    back(store.ping)
    store.close()
    assert take(RedisCounters(server.url), RATE).remaining == [10 - 1 - 2 - 2]


class Failing:
    """A client of which each call fails after it was sent."""

    lost_at = back_at = 0.0
    name = "failing"

    def __init__(self) -> None:
        self.calls = 0

    def raise_if_away(self) -> None:
        """Is not away."""

    def call(self, command: Any, **options: Any) -> Any:
        self.calls += 1
        raise CountersAway("an error in the middle of a script")


def test_there_is_a_pause_after_each_failure(monkeypatch):
    client, pauses, tried_again = Failing(), list[float](), Event()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if client.calls == 2:
            tried_again.set()
            gevent.sleep(3600)

    monkeypatch.setattr(corrections, "gevent", SimpleNamespace(sleep=pause, spawn=gevent.spawn))
    queue = CorrectionQueue(client, lambda: iter([("EVALSHA",)]), 0.01, lambda: 0)
    queue.start()
    assert tried_again.wait(10)
    assert pauses == [RETRY_DELAY, BATCH_DELAY, RETRY_DELAY]
    queue.close()

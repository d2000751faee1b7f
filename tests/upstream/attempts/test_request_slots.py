"""The slots of one request. How they decide which target is attempted is in test_candidates."""

from __future__ import annotations

import time
from dataclasses import replace

import gevent
import pytest

from engine.exchange.request_record import RequestRecord
from engine.upstream.admission.gate import Gate, GateConfig
from engine.upstream.attempts.request_slots import MAX_QUEUES, RequestSlots
from engine.values.admission import NORMAL
from tests.support.admission import QueueInProcess, bounded, full
from tests.support.waiting import PATIENCE


def slots_of(record: RequestRecord | None = None) -> RequestSlots:
    clock = time.monotonic
    return RequestSlots(NORMAL, record or RequestRecord(), clock() + PATIENCE, clock)


def test_slots_are_held_until_the_attempt_has_ended() -> None:
    only, slots = bounded("a"), slots_of()
    taken = slots.take(only)
    assert taken is not None
    assert slots.hold(only, taken) is taken
    slots.release(only)
    slots.release(only)
    assert only.gates[0].figures().in_flight == 0
    assert (slots.full, slots.refusal()) == ([], None)


def test_a_retry_waits_for_its_slots() -> None:
    only, slots = full("a", size=1), slots_of()
    waiting = gevent.spawn(slots.hold, only, None)
    gevent.sleep(0.001)
    only.gates[0].release(1.0)
    assert waiting.get(timeout=PATIENCE) is not None


def test_a_request_without_a_slot_in_time_is_refused_by_its_limit() -> None:
    record = RequestRecord()
    only, slots = full("a", size=1, wait=0.01), slots_of(record)
    assert slots.take(only) is None
    assert slots.full == [only]
    assert slots.wait() is None
    refusal = slots.refusal()
    assert refusal is not None
    assert (refusal.status, refusal.code) == (429, "upstream_busy")
    assert (slots.full, record.limit) == ([], "max_in_flight")
    assert record.queue_time == record.wait_time > 0


def test_a_slot_that_is_free_after_the_wait_is_taken() -> None:
    only, slots = full("a", size=1, wait=0.01), slots_of()
    assert (slots.take(only), slots.wait()) == (None, None)
    only.gates[0].release(1.0)
    assert slots.take(only) is not None


@pytest.mark.parametrize("more", [0, 2])
def test_a_request_waits_in_eight_queues_at_once(more: int) -> None:
    targets = [full(str(at), size=1, wait=0.05) for at in range(MAX_QUEUES + more)]
    slots = slots_of()
    for target in targets:
        assert slots.take(target) is None
    waiting = gevent.spawn(slots.wait)
    gevent.sleep(0.001)
    queues = [target.gates[0].figures().waiting for target in targets]
    assert queues == [1] * MAX_QUEUES + [0] * more
    assert waiting.get(timeout=PATIENCE) is None
    assert slots.full == targets[MAX_QUEUES:]


def test_targets_with_a_common_gate_are_waited_for_once() -> None:
    own, other = full("a", size=1), full("b", size=1)
    shared = Gate("up", "", GateConfig(1, 1, 5.0), QueueInProcess())
    one, two = replace(own, gates=(*own.gates, shared)), replace(other, gates=(shared,))
    shared.try_enter(NORMAL)
    slots = slots_of()
    assert (slots.take(one), slots.take(two)) == (None, None)
    waiting = gevent.spawn(slots.wait)
    gevent.sleep(0.001)
    assert (own.gates[0].figures().waiting, shared.figures().waiting) == (1, 0)
    waiting.kill()

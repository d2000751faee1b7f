"""The slots of one attempt."""

from __future__ import annotations

import gevent
import pytest

from engine.upstream.admission.gate import Gate, GateConfig, Wait
from engine.upstream.admission.slots import (
    NoSlot,
    NoSlots,
    Slots,
    take_slots,
    wait_for_any,
    wait_for_slots,
)
from engine.values.admission import NORMAL, Figures
from tests.support.admission import QueueInProcess
from tests.support.waiting import PATIENCE


def gate(bound: int, size: int = 0, wait: float = 5.0) -> Gate:
    return Gate("vendor", "", GateConfig(bound, size, wait), QueueInProcess())


def in_flight(*gates: Gate) -> list[int]:
    return [each.figures().in_flight for each in gates]


def test_a_place_of_every_gate_is_taken_and_given_back_once():
    gates = gate(2), gate(2)
    slots = take_slots(gates, NORMAL)
    assert in_flight(*gates) == [1, 1]
    take_slots(gates, NORMAL)
    slots.release()
    slots.release()
    assert in_flight(*gates) == [1, 1]


def test_where_one_gate_is_full_no_place_of_another_is_kept():
    gates = gate(2), gate(1)
    take_slots(gates, NORMAL)
    with pytest.raises(NoSlot) as excinfo:
        take_slots(gates, NORMAL)
    assert excinfo.value.gate is gates[1]
    assert in_flight(*gates) == [1, 1]


def test_a_target_without_a_bound_is_free():
    take_slots((), NORMAL).release()


def test_places_are_waited_for_one_after_another():
    gates = gate(1, size=1), gate(1, size=1)
    first = take_slots(gates, NORMAL)
    greenlet = gevent.spawn(wait_for_slots, gates, NORMAL, 5.0)
    gevent.sleep(0)
    first.release()
    assert isinstance(greenlet.get(timeout=PATIENCE), Slots)
    assert in_flight(*gates) == [1, 1]


@pytest.mark.parametrize(("size", "result"), [(0, Wait.FULL), (1, Wait.TIMEOUT)])
def test_a_wait_without_success_keeps_no_place(size, result):
    gates = gate(2), gate(1, size, wait=0.02)
    take_slots(gates, NORMAL)
    with pytest.raises(NoSlot) as excinfo:
        wait_for_slots(gates, NORMAL, 5.0)
    assert (excinfo.value.gate, excinfo.value.result) == (gates[1], result)
    assert in_flight(*gates) == [1, 1]


def test_an_interrupted_wait_keeps_no_place():
    gates = gate(2), gate(1, size=1)
    take_slots(gates, NORMAL)
    greenlet = gevent.spawn(wait_for_slots, gates, NORMAL, 5.0)
    gevent.sleep(0)
    greenlet.kill()
    assert in_flight(*gates) == [1, 1]


def test_one_time_counts_for_all_gates():
    gates = gate(1, size=1), gate(1, size=1)
    first = take_slots(gates[:1], NORMAL)
    take_slots(gates[1:], NORMAL)
    now = [0.0]
    greenlet = gevent.spawn(wait_for_slots, gates, NORMAL, 3.0, lambda: now[0])
    gevent.sleep(0)
    now[0] = 3.0
    first.release()
    with pytest.raises(NoSlot, match="full"):
        greenlet.get(timeout=PATIENCE)


def taken(*gates: Gate) -> list[Slots]:
    """Every slot of each gate."""
    return [take_slots([gate], NORMAL) for gate in gates for _ in range(gate.bound)]


def waiting(*gates: Gate, rank: int = NORMAL) -> gevent.Greenlet:
    """A greenlet that waits in the queues of all the gates."""
    greenlet = gevent.spawn(wait_for_any, [[gate] for gate in gates], rank, 5.0)
    with gevent.Timeout(PATIENCE):
        while not any(gate.figures().waiting for gate in gates):
            gevent.sleep(0)
    return greenlet


def unused(*gates: Gate) -> None:
    """Nobody waits for the gates, and all their slots are those that were taken before."""
    assert [gate.figures() for gate in gates] == [Figures(1, 0)] * len(gates)


@pytest.mark.parametrize("freed", [0, 1, 2])
def test_the_first_place_to_become_free_is_taken_wherever_it_is(freed):
    gates = [gate(1, size=1) for _ in range(3)]
    held = taken(*gates)
    greenlet = waiting(*gates)
    held[freed].release()
    index, _ = greenlet.get(timeout=PATIENCE)
    assert index == freed
    unused(*gates)


def test_a_place_that_is_free_at_once_is_that_of_the_first_option():
    gates = [gate(1, size=1) for _ in range(3)]
    taken(gates[0])
    index, _ = wait_for_any([[each] for each in gates], NORMAL, 5.0)
    assert index == 1
    assert in_flight(*gates) == [1, 1, 0]


def test_of_two_places_that_become_free_at_once_one_is_given_back():
    gates = gate(1, size=1), gate(1, size=1)
    held = taken(*gates)
    greenlet = waiting(*gates)
    for slots in held:
        slots.release()
    greenlet.get(timeout=PATIENCE)
    gevent.sleep(0)
    assert sorted(in_flight(*gates)) == [0, 1]


def test_a_place_that_is_given_back_goes_to_the_next_in_that_queue():
    gates = gate(1, size=2), gate(1, size=2)
    held = taken(*gates)
    first = waiting(*gates)
    following = [gevent.spawn(each.wait, NORMAL, 5.0) for each in gates]
    gevent.sleep(0)
    for slots in held:
        slots.release()
    first.get(timeout=PATIENCE)
    gevent.wait(following, timeout=PATIENCE, count=1)
    assert [greenlet.ready() for greenlet in following].count(True) == 1
    assert in_flight(*gates) == [1, 1]
    gevent.killall(following)


def test_who_came_first_is_served_first_in_each_queue():
    gates = gate(1, size=2), gate(1, size=2)
    held = taken(*gates)
    earlier = gevent.spawn(gates[1].wait, NORMAL, 5.0)
    gevent.sleep(0)
    later = waiting(*gates)
    held[1].release()
    assert earlier.get(timeout=PATIENCE) is Wait.ADMITTED
    assert not later.ready()
    gates[1].release(0.1)
    index, _ = later.get(timeout=PATIENCE)
    assert index == 1


def test_where_no_option_has_a_place_each_says_why():
    gates = gate(1), gate(1, size=1, wait=0.02)
    taken(*gates)
    with pytest.raises(NoSlots) as excinfo:
        wait_for_any([[each] for each in gates], NORMAL, 5.0)
    assert [(each.gate, each.result) for each in excinfo.value.refusals] == [
        (gates[0], Wait.FULL),
        (gates[1], Wait.TIMEOUT),
    ]
    unused(*gates)


def test_one_option_is_waited_for_alone():
    only = gate(1, size=1, wait=0.02)
    (held,) = taken(only)
    with pytest.raises(NoSlots):
        wait_for_any([[only]], NORMAL, 5.0)
    held.release()
    assert wait_for_any([[only]], NORMAL, 5.0)[0] == 0


def test_who_is_shed_from_one_queue_waits_on_in_the_others():
    gates = gate(1, size=1), gate(1, size=1)
    held = taken(*gates)
    low = waiting(*gates, rank=NORMAL - 1)
    high = gevent.spawn(gates[0].wait, NORMAL, 5.0)
    gevent.sleep(0)
    held[1].release()
    index, _ = low.get(timeout=PATIENCE)
    assert index == 1
    high.kill()
    unused(*gates)


def test_who_leaves_while_he_waits_stands_in_no_queue():
    gates = gate(1, size=1), gate(1, size=1)
    taken(*gates)
    waiting(*gates).kill()
    gevent.sleep(0)  # his tickets end in the next turn of the loop
    unused(*gates)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_who_leaves_as_he_is_admitted_keeps_no_place(turns):
    """At whichever turn of the loop after a slot became free he is ended."""
    gates = gate(1, size=1), gate(1, size=1)
    held = taken(*gates)
    greenlet = waiting(*gates)
    held[1].release()
    for _ in range(turns):
        gevent.sleep(0)
    greenlet.kill()
    if greenlet.successful() and isinstance(greenlet.value, tuple):
        greenlet.value[1].release()
    gevent.sleep(0)
    assert [each.figures() for each in gates] == [Figures(1, 0), Figures(0, 0)]

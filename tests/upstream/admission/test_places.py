"""The places of one attempt."""

from __future__ import annotations

import gevent
import pytest

from engine.upstream.admission.gate import Gate, GateConfig, Wait
from engine.upstream.admission.places import NoPlace, Places, take_places, wait_for_places
from engine.values.admission import NORMAL
from tests.support.admission import QueueInProcess


def gate(bound: int, size: int = 0, wait: float = 5.0) -> Gate:
    return Gate("vendor", "", GateConfig(bound, size, wait), QueueInProcess())


def in_flight(*gates: Gate) -> list[int]:
    return [each.figures().in_flight for each in gates]


def test_a_place_of_every_gate_is_taken_and_given_back_once():
    gates = gate(2), gate(2)
    places = take_places(gates, NORMAL)
    assert in_flight(*gates) == [1, 1]
    take_places(gates, NORMAL)
    places.release()
    places.release()
    assert in_flight(*gates) == [1, 1]


def test_where_one_gate_is_full_no_place_of_another_is_kept():
    gates = gate(2), gate(1)
    take_places(gates, NORMAL)
    with pytest.raises(NoPlace) as refusal:
        take_places(gates, NORMAL)
    assert refusal.value.gate is gates[1]
    assert in_flight(*gates) == [1, 1]


def test_a_target_without_a_bound_is_free():
    take_places((), NORMAL).release()


def test_places_are_waited_for_one_after_another():
    gates = gate(1, size=1), gate(1, size=1)
    first = take_places(gates, NORMAL)
    greenlet = gevent.spawn(wait_for_places, gates, NORMAL, 5.0)
    gevent.sleep(0)
    first.release()
    assert isinstance(greenlet.get(timeout=5), Places)
    assert in_flight(*gates) == [1, 1]


@pytest.mark.parametrize(("size", "result"), [(0, Wait.FULL), (1, Wait.TIMEOUT)])
def test_a_wait_without_success_keeps_no_place(size, result):
    gates = gate(2), gate(1, size, wait=0.02)
    take_places(gates, NORMAL)
    with pytest.raises(NoPlace) as refusal:
        wait_for_places(gates, NORMAL, 5.0)
    assert (refusal.value.gate, refusal.value.result) == (gates[1], result)
    assert in_flight(*gates) == [1, 1]


def test_an_interrupted_wait_keeps_no_place():
    gates = gate(2), gate(1, size=1)
    take_places(gates, NORMAL)
    greenlet = gevent.spawn(wait_for_places, gates, NORMAL, 5.0)
    gevent.sleep(0)
    greenlet.kill()
    assert in_flight(*gates) == [1, 1]


def test_one_time_counts_for_all_gates():
    gates = gate(1, size=1), gate(1, size=1)
    first = take_places(gates[:1], NORMAL)
    take_places(gates[1:], NORMAL)
    now = [0.0]
    greenlet = gevent.spawn(wait_for_places, gates, NORMAL, 3.0, lambda: now[0])
    gevent.sleep(0)
    now[0] = 3.0
    first.release()
    with pytest.raises(NoPlace, match="full"):
        greenlet.get(timeout=5)

"""The tickets of a queue as columns."""

from __future__ import annotations

from collections.abc import Callable

from engine.stores.admission.queue import QueueState
from engine.stores.admission.tickets import Ticket, Tickets
from engine.values.admission import NORMAL, PRIORITIES
from tests.support.each import each
from tests.support.growth import steps

LATER = 10**9


def tickets(*of: Ticket) -> Tickets:
    filled = Tickets()
    for ticket in of:
        filled.add(ticket)
    return filled


MIXED = [
    Ticket(-NORMAL, 1, 7, 100),
    Ticket(-NORMAL - 1, 2, 8, 50),
    Ticket(-NORMAL, 3, 8, 200),
    Ticket(1 - NORMAL, 4, 7, 300),
]


def test_tickets_are_in_the_order_of_their_turns():
    assert [*tickets(*MIXED)] == sorted(MIXED)


def test_each_ticket_is_found_by_its_number():
    mixed = tickets(*MIXED)
    positions = [mixed.index(number) for number in range(6)]
    assert positions == [None, 1, 0, 2, 3, None]


def test_nothing_is_found_among_none():
    assert Tickets().index(1) is None


def test_tickets_of_other_workers_and_late_ones_are_removed():
    mixed = tickets(*MIXED)
    mixed.keep({8}, 50)
    assert [*mixed] == [MIXED[2]]


def test_the_first_end_is_that_of_any_ticket():
    assert tickets(*MIXED).first_end() == 50


Change = Callable[[QueueState], object]


@each(
    "change",
    [
        lambda state: state.enter(1, NORMAL, 8),
        lambda state: state.join(1, NORMAL, 10**6, LATER),
        lambda state: state.leave(7),
        lambda state: state.release(1),
        lambda state: state.drop_dead(lambda worker: True, 0),
        lambda state: state.admit([1, 2], 8, 0),
    ],
)
def test_a_change_takes_as_many_steps_in_a_long_queue_as_in_a_short_one(change: Change) -> None:
    def work(waiting: int) -> float:
        state = QueueState()
        for _ in range(8):
            state.enter(1, NORMAL, 8)
        for at in range(waiting):
            state.join(at % 4 + 1, at % len(PRIORITIES), 10**6, LATER)
        record = state.record()

        def once() -> None:
            read = QueueState(record)
            change(read)
            read.record()

        return steps(once)

    assert work(2000) <= work(20) * 1.5

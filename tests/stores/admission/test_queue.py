"""Places and queues: examples, then random histories of several workers."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from engine.stores.admission.queue import STALL_SECONDS, QueueState, Ticket, Tickets
from engine.values.admission import NORMAL, PRIORITIES
from tests.support.each import each
from tests.support.growth import steps


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


LOW, HIGH = NORMAL - 1, NORMAL + 1
LATER = 10**9
STALL = round(STALL_SECONDS * 1e6)


def everybody(worker: int) -> bool:
    return True


def full(bound: int = 1, worker: int = 1) -> QueueState:
    state = QueueState()
    for _ in range(bound):
        assert state.enter(worker, NORMAL, bound)
    return state


def joined(state: QueueState, rank: int = NORMAL, *, worker: int = 1, size: int = 9) -> int:
    number = state.join(worker, rank, size, LATER)
    assert number is not None
    return number


def test_places_are_taken_until_none_is_free():
    state = full(3)
    assert not state.enter(2, HIGH, 3)
    assert state.in_flight == 3


def test_a_place_that_is_given_back_is_free_for_every_worker():
    state = full(1, worker=1)
    state.release(1)
    assert state.enter(2, NORMAL, 1)


def test_a_worker_gives_back_no_more_than_it_holds():
    state = full(2, worker=1)
    state.release(2)
    assert state.in_flight == 2


def test_a_new_request_does_not_overtake_the_queue():
    state = full()
    waiting = joined(state)
    state.release(1)
    assert not state.enter(2, NORMAL, 1)
    assert state.admit([waiting], 1, 0) == [waiting]


def test_a_new_request_takes_a_place_that_those_who_wait_do_not_need():
    state = full(2)
    joined(state)
    state.release(1)
    state.release(1)
    assert state.enter(2, NORMAL, 2)
    assert not state.enter(2, NORMAL, 2)


def test_a_higher_priority_overtakes_and_a_lower_one_does_not():
    state = full()
    joined(state)
    state.release(1)
    assert not state.enter(1, LOW, 1)
    assert state.enter(1, HIGH, 1)


@each(
    "ranks,turns",
    [
        ([NORMAL, NORMAL, NORMAL], [0, 1, 2]),
        ([LOW, NORMAL, HIGH], [2, 1, 0]),
        ([NORMAL, HIGH, LOW, HIGH], [1, 3, 0, 2]),
    ],
)
def test_turns_go_by_priority_and_then_by_arrival(ranks, turns):
    state = full()
    tickets = [joined(state, rank, worker=at) for at, rank in enumerate(ranks)]
    admitted = []
    for _ in ranks:
        state.release(state.holders and next(w for w, count in state.holders.items() if count))
        admitted += state.admit(tickets, 1, 0)
    assert admitted == [tickets[at] for at in turns]


def test_a_full_queue_refuses_an_equal():
    state = full()
    joined(state, size=1)
    assert state.join(1, NORMAL, 1, LATER) is None


def test_a_full_queue_sheds_the_last_of_the_lowest_priority():
    state = full()
    first, last = joined(state, LOW, size=3), joined(state, LOW, size=3)
    normal = joined(state, NORMAL, size=3)
    high = joined(state, HIGH, size=3)
    waiting = [ticket.number for ticket in state.waiting]
    assert waiting == [high, normal, first]
    assert last not in waiting


def test_a_queue_without_room_lets_nobody_wait():
    assert full().join(1, HIGH, 0, LATER) is None


def test_a_ticket_ends_with_its_time():
    state = full()
    state.join(1, NORMAL, 5, until=100)
    state.drop_dead(everybody, 99)
    assert state.waiting
    state.drop_dead(everybody, 100)
    assert not state.waiting


def test_what_a_dead_worker_held_is_free():
    state = full(2, worker=7)
    joined(state, worker=7)
    state.drop_dead(lambda worker: worker != 7, 0)
    assert (state.in_flight, len(state.waiting)) == (0, 0)


def test_a_ticket_that_has_left_is_not_served():
    state = full()
    gone, following = joined(state), joined(state)
    state.leave(gone)
    state.release(1)
    assert state.admit([gone, following], 1, 0) == [following]


def test_a_worker_that_does_not_ask_holds_up_nobody_for_long():
    state = full()
    joined(state, worker=2)
    mine = joined(state, worker=1)
    state.release(1)
    assert state.admit([mine], 1, 1000) == []
    assert state.admit([mine], 1, 1000 + STALL - 1) == []
    assert state.admit([mine], 1, 1000 + STALL) == [mine]


def test_a_lower_bound_lets_nobody_in_until_enough_have_left():
    state = full(3)
    waiting = joined(state)
    state.release(1)
    state.release(1)
    assert state.admit([waiting], 1, 0) == []
    state.release(1)
    assert state.admit([waiting], 1, 0) == [waiting]


def test_a_state_is_read_from_its_record():
    state = full(2)
    joined(state, LOW, worker=3)
    joined(state, HIGH, worker=2**63)
    state.admit([], 3, 12345)
    again = QueueState(state.record())
    assert (again.holders, [*again.waiting], again.last, again.idle_since) == (
        state.holders,
        [*state.waiting],
        2,
        12345,
    )


WORKERS = (1, 2, 3)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["request", "request", "serve", "release", "leave", "die"]),
        st.sampled_from(WORKERS),
        st.integers(0, len(PRIORITIES) - 1),
    ),
    max_size=60,
)


class Machine:
    """Workers that share a queue; what each believes to hold, apart from the state."""

    def __init__(self, bound: int, size: int) -> None:
        self.bound, self.size, self.time = bound, size, 0
        self.record: bytes | None = None
        self.slots = dict.fromkeys(WORKERS, 0)
        self.tickets: dict[int, dict[int, int]] = {worker: {} for worker in WORKERS}
        self.dead: set[int] = set()

    def state(self) -> QueueState:
        self.time += 1
        state = QueueState(self.record)
        state.drop_dead(lambda worker: worker not in self.dead, self.time)
        return state

    def request(self, worker: int, rank: int) -> None:
        state = self.state()
        ahead = [t for t in state.waiting if t.order <= -rank]
        free = self.bound - state.in_flight
        entered = state.enter(worker, rank, self.bound)
        assert entered == (len(ahead) < free)
        if entered:
            self.slots[worker] += 1
        elif (number := state.join(worker, rank, self.size, LATER)) is not None:
            self.tickets[worker][number] = rank
        else:
            assert len(state.waiting) >= self.size
            assert all(ticket.order <= -rank for ticket in state.waiting)
        self.record = state.record()

    def serve(self, worker: int, rank: int = 0) -> None:
        state = self.state()
        before = [*state.waiting]
        tickets = self.tickets[worker]
        admitted = state.admit([*tickets], self.bound, self.time)
        for number in admitted:
            ahead = [t for t in before if t < next(b for b in before if b.number == number)]
            others = [t for t in ahead if t.number not in admitted]
            assert len(others) <= self.bound - state.in_flight
            self.slots[worker] += 1
        alive = {ticket.number for ticket in state.waiting}
        self.tickets[worker] = {n: r for n, r in tickets.items() if n in alive}
        self.record = state.record()

    def release(self, worker: int, rank: int = 0) -> None:
        if self.slots[worker]:
            state = self.state()
            state.release(worker)
            self.slots[worker] -= 1
            self.record = state.record()

    def leave(self, worker: int, rank: int = 0) -> None:
        if self.tickets[worker]:
            state = self.state()
            state.leave(self.tickets[worker].popitem()[0])
            self.record = state.record()

    def die(self, worker: int, rank: int = 0) -> None:
        """The worker ends; the next one has another number, which the test leaves out."""
        self.dead.add(worker)
        self.slots[worker], self.tickets[worker] = 0, {}

    def check(self) -> None:
        state = self.state()
        assert state.in_flight == sum(self.slots.values()) <= self.bound
        assert len(state.waiting) <= self.size
        assert [*state.waiting] == sorted(state.waiting)


@given(st.integers(1, 4), st.integers(0, 4), STEPS)
def test_any_history_keeps_the_bounds_and_loses_no_place(bound, size, steps):
    machine = Machine(bound, size)
    for name, worker, rank in steps:
        if worker not in machine.dead:
            getattr(machine, name)(worker, rank)
        machine.check()
    for _ in range(3 * size + 1):  # when all have asked, no slot is free that somebody waits for
        for worker in WORKERS:
            machine.serve(worker)
    state = machine.state()
    assert not state.waiting or state.in_flight == bound
    for worker in WORKERS:
        while machine.slots[worker] or machine.tickets[worker]:
            machine.leave(worker)
            machine.release(worker)
    state = machine.state()
    assert all(state.enter(9, LOW, bound) for _ in range(bound))


@given(st.lists(st.integers(0, len(PRIORITIES) - 1), min_size=1, max_size=12))
def test_everybody_of_one_priority_is_served_in_the_order_of_arrival(ranks):
    state = full()
    tickets = [joined(state, rank, size=20) for rank in ranks]
    admitted: list[int] = []
    while len(admitted) < len(tickets):
        state.release(1)
        admitted += state.admit(tickets, 1, 0)
    for rank in set(ranks):
        own = [number for number, of in zip(tickets, ranks, strict=True) if of == rank]
        assert [number for number in admitted if number in own] == own

"""A bounded number of slots with a priority queue, as a value that is stored as bytes. The law:


    slot       A request takes a slot if fewer requests wait ahead of it than slots are free.
    order      Requests are ordered by priority, then by arrival, over all workers.
    full       A full queue accepts a request only if its priority is higher than that of the last
               one. The ticket of the last one then ends: of the lowest priority, the newest.
    starving   A higher priority always goes first. A lower one may get no slot until its time is
               over.
    leaving    A slot that is given back, the ticket of a request that stops waiting, and all that
               a dead worker held are free at once. A ticket also ends with its time.
    stalled    A slot that is free for STALL_SECONDS while others are ahead goes to any request, so
               that a worker that runs but does not react blocks no other.

Pure: each call gets the number of the worker, which workers are alive, and the time in
microseconds.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Set
from itertools import compress
from struct import Struct
from typing import NamedTuple

from engine.machine import worker_counts


class Ticket(NamedTuple):
    """A request that waits. `order` is the negated rank, so that the highest priority sorts first;
    `until` is when the ticket ends, in microseconds."""

    order: int
    number: int
    worker: int
    until: int


class Tickets:
    """Tickets by order, then by number, read from a `record` of their columns."""

    __slots__ = ("columns", "numbers", "orders", "untils", "workers")

    def __init__(self, record: memoryview | bytes = b"") -> None:
        self.orders = array("q")
        self.numbers, self.workers, self.untils = array("Q"), array("Q"), array("Q")
        self.columns = self.orders, self.numbers, self.workers, self.untils
        size = len(record) // len(self.columns)
        for at, column in enumerate(self.columns):
            column.frombytes(record[at * size : (at + 1) * size])

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Ticket]:
        return map(Ticket, *self.columns)

    def add(self, ticket: Ticket) -> None:
        """Add a ticket after those of equal order. Its number must be the highest of all."""
        at = bisect_right(self.orders, ticket.order)
        for column, value in zip(self.columns, ticket, strict=True):
            column.insert(at, value)

    def remove_at(self, index: int) -> None:
        for column in self.columns:
            column.pop(index)

    def index(self, number: int) -> int | None:
        """The index of the ticket with this number, None if there is none."""
        start = 0
        while start < len(self):
            end = bisect_right(self.orders, self.orders[start], start)
            at = bisect_left(self.numbers, number, start, end)
            if at < end and self.numbers[at] == number:
                return at
            start = end
        return None

    def first_end(self) -> int:
        """When the first ticket ends."""
        return min(self.untils)

    def keep(self, workers: Set[int], now: int) -> None:
        """Keep the tickets of these workers whose time is not over."""
        living = [ticket.worker in workers and ticket.until > now for ticket in self]
        for column in self.columns:
            column[:] = array(column.typecode, compress(column, living))


STALL_SECONDS = 0.1
_STALL = round(STALL_SECONDS * 1e6)
_HEAD = Struct("<QQQ")


class QueueState:
    """The slots and the queue of one bound.


    `holders` are the requests in flight by worker, `waiting` the tickets in order. `last` is the
    number of the newest ticket. `idle_since` is when a slot became free while tickets wait, 0 if
    no slot is free.
    """

    __slots__ = ("holders", "idle_since", "last", "waiting")

    def __init__(self, record: bytes | None = None) -> None:
        self.last = self.idle_since = 0
        self.holders: dict[int, int] = {}
        self.waiting = Tickets()
        if record:
            self.last, self.idle_since, count = _HEAD.unpack_from(record)
            tickets = _HEAD.size + count * worker_counts.PAIR.size
            self.holders = worker_counts.read(record[_HEAD.size : tickets])
            self.waiting = Tickets(memoryview(record)[tickets:])

    def record(self) -> bytes:
        """The state as bytes."""
        head = _HEAD.pack(self.last, self.idle_since, len(self.holders))
        return b"".join([head, worker_counts.write(self.holders), *self.waiting.columns])

    @property
    def in_flight(self) -> int:
        return sum(self.holders.values())

    def drop_dead(self, alive: Callable[[int], bool], now: int) -> None:
        """Free the slots and tickets of dead workers, and the tickets whose time is over."""
        workers = {*self.holders, *self.waiting.workers}
        living = {worker for worker in workers if alive(worker)}
        self.holders = worker_counts.alive_counts(self.holders, living.__contains__)
        if living != workers or (self.waiting and self.waiting.first_end() <= now):
            self.waiting.keep(living, now)

    def enter(self, worker: int, rank: int, bound: int) -> bool:
        """Take a slot for a new request. Returns whether it got one."""
        free = bound - self.in_flight
        orders = self.waiting.orders
        if free <= 0 or (len(orders) >= free and orders[free - 1] <= -rank):
            return False
        self.add(worker, 1)
        return True

    def join(self, worker: int, rank: int, size: int, until: int) -> int | None:
        """Add a request to the queue. Returns its ticket, None if the queue is full for it."""
        waiting = self.waiting
        if len(waiting) >= size:
            if not waiting or waiting.orders[-1] <= -rank:
                return None
            waiting.remove_at(-1)
        self.last += 1
        waiting.add(Ticket(-rank, self.last, worker, until))
        return self.last

    def admit(self, numbers: Iterable[int], bound: int, now: int) -> list[int]:
        """Give slots to these tickets if it is their turn. Returns the numbers of the admitted."""
        candidates, admitted, waiting = set(numbers), list[int](), self.waiting
        stalled = self.idle_since and now - self.idle_since >= _STALL
        free, ahead, index = bound - self.in_flight, 0, 0
        while ahead < free and index < len(waiting):
            number = waiting.numbers[index]
            if number in candidates:
                self.add(waiting.workers[index], 1)
                waiting.remove_at(index)
                admitted.append(number)
                free -= 1
                continue
            index += 1
            ahead += not stalled
        if not self.waiting or self.in_flight >= bound:
            self.idle_since = 0
        elif admitted or not self.idle_since:
            self.idle_since = now
        return admitted

    def leave(self, number: int) -> None:
        """End a ticket; idempotent."""
        index = self.waiting.index(number)
        if index is not None:
            self.waiting.remove_at(index)

    def release(self, worker: int) -> None:
        """Give back a slot of a worker, never more than it holds."""
        self.add(worker, -1)

    def slots(self, worker: int) -> int:
        """The slots that a worker holds."""
        return self.holders.get(worker, 0)

    def add(self, worker: int, slots: int) -> None:
        """Change the number of slots of a worker, down to 0 and without regard to the bound."""
        if slots:
            self.holders[worker] = max(0, self.slots(worker) + slots)

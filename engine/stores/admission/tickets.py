"""The tickets of a queue in order, stored as arrays by column.

A ticket is found by bisection, and a change moves bytes, so a queue of 10,000 costs little more
than one of ten. A scan of all tickets reads one column.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Set
from itertools import compress
from typing import NamedTuple


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

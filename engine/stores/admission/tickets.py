"""The tickets of a queue in the order of their turns, as columns of numbers.

One of many is found by bisection, and to change one moves bytes: a queue of 10,000 costs little
more than one of ten. What has to look at each ticket looks at one column.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Set
from itertools import compress
from typing import NamedTuple


class Ticket(NamedTuple):
    """A request that waits: `order` is the negated rank, so that tickets sort by their turn;
    `until` is when it ends, in microseconds."""

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
        """Add the ticket behind all of its order; its number is the highest."""
        at = bisect_right(self.orders, ticket.order)
        for column, value in zip(self.columns, ticket, strict=True):
            column.insert(at, value)

    def remove_at(self, index: int) -> None:
        for column in self.columns:
            column.pop(index)

    def index(self, number: int) -> int | None:
        """Where the ticket of a number is, None if there is none."""
        start = 0
        while start < len(self):
            end = bisect_right(self.orders, self.orders[start], start)
            at = bisect_left(self.numbers, number, start, end)
            if at < end and self.numbers[at] == number:
                return at
            start = end
        return None

    def first_end(self) -> int:
        """When the first of them ends."""
        return min(self.untils)

    def keep(self, workers: Set[int], now: int) -> None:
        """Remove the tickets of other workers, and those whose time is over."""
        living = [ticket.worker in workers and ticket.until > now for ticket in self]
        for column in self.columns:
            column[:] = array(column.typecode, compress(column, living))

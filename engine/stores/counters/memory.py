"""Counters of one machine, without a server: exact across all its workers.

Every take is one transaction of the database in shared memory (`shared`). What is over is swept by
those who make new records, a few at a time. Where there is no room for one more record, its limit
passes uncounted, and the log says so once a minute.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from itertools import islice
from operator import add, eq
from pathlib import Path

import lmdb

from engine.stores.counters import slots, windows
from engine.stores.counters.receipt import Place, Receipt, place
from engine.stores.counters.shared import (
    NUMBERS,
    Shared,
    Transaction,
    attach,
    detach,
)
from engine.values.counters import (
    CounterKeys,
    CountersAway,
    State,
    TakeResult,
    made,
    refusal,
)
from engine.values.runtime_dir import prepare

log = logging.getLogger("modelway")

SIZE = 256 << 20
_SWEPT, _SWEPT_WHEN_FULL = 4, 100
_LOOK_EVERY, _SAY_EVERY = 1.0, 60.0


_CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or time.CLOCK_REALTIME


def clock() -> int:
    """Microseconds that all processes of a machine agree on; not set back, where the system has
    such a clock."""
    return time.clock_gettime_ns(_CLOCK) // 1000


class _NotAsOne(Exception):
    """What was taken could not be corrected together with what was taken before."""


class Memory:
    """Counters in the folder `path`, opened in a worker when it first takes something.

    Raises PermissionError when the folder is not ours alone. `clock` gives microseconds, `size`
    bounds the memory, in bytes.
    """

    def __init__(self, path: Path, *, clock: Callable[[], int] = clock, size: int = SIZE) -> None:
        self._path, self._clock, self._size = path, clock, size
        self._shared: Shared | None = None
        self._look_at = self._say_at = 0.0
        self._swept_to = b""
        self._full = False
        prepare(path)

    def take(self, asked: CounterKeys, costs: Sequence[int]) -> TakeResult:
        shared, places = self._opened(), asked.places(place)
        try:
            with shared.begin() as txn:
                taken = self._take(shared, txn, places, costs)
        except lmdb.MapFullError:
            self._full = True
            amounts = [limit.amount for limit in asked.limits]
            taken = TakeResult(None, amounts, [0.0] * len(amounts))
        except lmdb.Error as error:
            raise CountersAway(f"{self._path}: {error}") from error
        if self._full:  # no line is written as long as others wait for this transaction
            self._full = False
            self._say(f"counters are full ({self._size} bytes), some requests pass uncounted")
        return taken

    def more(self, receipt: object, costs: Sequence[int]) -> TakeResult | None:
        """Take more of the first limits of a receipt, by the same receipt: what is said of them
        then, or None when that is denied, or not all of it would be corrected as one."""
        if not isinstance(receipt, Receipt):
            return None
        shared, places = self._opened(), receipt.places[: len(costs)]
        try:
            with shared.begin() as txn:
                taken = self._take(shared, txn, places, costs)
                if not isinstance(taken.receipt, Receipt) or not receipt.goes_with(taken.receipt):
                    raise _NotAsOne
        except (_NotAsOne, lmdb.MapFullError):
            return None
        except lmdb.Error as error:
            raise CountersAway(f"{self._path}: {error}") from error
        receipt.costs = [*map(add, receipt.costs, costs), *receipt.costs[len(costs) :]]
        return taken

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if isinstance(receipt, Receipt) and receipt.places:
            each = zip(receipt.places, costs, strict=False)
            self.correct(receipt, [cost if tick else 0 for (_, tick, _), cost in each])
            receipt.places = ()

    def correct(self, receipt: object, costs: Sequence[int]) -> bool:
        """As `settle`, of what goes on: of slots so many stay held, and all of it can be corrected
        again. Whether it is done."""
        if not isinstance(receipt, Receipt) or all(map(eq, receipt.costs, costs)):
            return True
        try:
            shared = self._opened()
            if shared.file == receipt.file:  # what another counted is gone
                with shared.begin() as txn:
                    self._settle(shared, txn, receipt, costs)
        except (lmdb.Error, CountersAway) as error:
            self._say(f"what a request really cost is not counted: {error}")
            return False
        receipt.costs = costs
        return True

    def close(self) -> None:
        if self._shared is not None:
            detach(self._shared)
            self._shared = None

    def _take(
        self, shared: Shared, txn: Transaction, places: Sequence[Place], costs: Sequence[int]
    ) -> TakeResult:
        # Read while nobody else writes, so that no record sees time run backwards.
        now = self._clock()
        receipt = Receipt(places, costs, now, shared.file, shared.worker)
        remaining: list[int] = []
        resets: list[float] = []
        before: list[tuple[bytes, bytes | None]] = []
        get, put = txn.get, txn.put
        for (key, tick, amount), cost in zip(places, costs, strict=True):
            was = get(key)
            if was is None and (key in receipt.uncounted or not self._room(shared, txn, now)):
                receipt.uncounted |= {key}
                remaining.append(amount)
                resets.append(0.0)
                continue
            if tick:
                taken = windows.take(was, amount, cost, tick, now)
            else:
                taken = slots.take(was, amount, cost, shared.worker, shared.alive)
            if taken is None:
                _put_back(txn, before)
                return refusal(len(resets), _look(shared, txn, places, costs, now))
            record, left, reset = taken
            before.append((key, was))
            put(key, record)
            remaining.append(left)
            resets.append(reset)
        return made(TakeResult, (None, remaining, resets, receipt, ()))

    def _settle(
        self, shared: Shared, txn: Transaction, taken: Receipt, costs: Sequence[int]
    ) -> None:
        now = self._clock()
        for (key, tick, _), was, cost in zip(taken.places, taken.costs, costs, strict=False):
            if was == cost or key in taken.uncounted:
                continue
            record = txn.get(key)
            if record is None and (not tick or cost < was or not self._room(shared, txn, now)):
                continue
            if tick:
                new = windows.correct(record, now // tick, taken.time // tick, cost - was)
            else:
                new = slots.give_back(record, taken.worker, was - cost)
            if new is not None:
                txn.put(key, new)
            elif record is not None:
                txn.delete(key)

    def _room(self, shared: Shared, txn: Transaction, now: int) -> bool:
        """Whether there is room for a new record, after sweeping some of what is over."""
        for count in (_SWEPT, _SWEPT_WHEN_FULL):
            self._sweep(shared, txn, now, count)
            if shared.has_room(txn):
                return True
        self._full = True
        return False

    def _sweep(self, shared: Shared, txn: Transaction, now: int, count: int) -> None:
        cursor = txn.cursor()
        if not cursor.set_range(self._swept_to) and not cursor.first():
            return
        found = list(islice(cursor.iternext(), count))
        self._swept_to = found[-1][0] + b"\0" if len(found) == count else b""
        for key, record in found:
            tick = int.from_bytes(key[:8], "big")
            if key == NUMBERS:
                continue
            if tick:
                mended = windows.set_back(record, now // tick)
                if mended is not None:
                    txn.put(key, mended)
                over = not windows.read(record, now // tick)[0]
            else:
                over = not slots.living(slots.read(record), shared.alive)
            if over:
                txn.delete(key)

    def _opened(self) -> Shared:
        shared, now = self._shared, time.monotonic()
        if shared is not None and shared.usable:
            if now < self._look_at:
                return shared
            self._look_at = now + _LOOK_EVERY
            if shared.is_there():
                return shared
        self._shared = None
        try:
            self._shared = attach(self._path, self._size)
        except (OSError, lmdb.Error) as error:
            raise CountersAway(str(error)) from error
        return self._shared

    def _say(self, what: str) -> None:
        now = time.monotonic()
        if now >= self._say_at:
            self._say_at = now + _SAY_EVERY
            log.warning("counters in %s: %s", self._path, what)


def _put_back(txn: Transaction, before: Sequence[tuple[bytes, bytes | None]]) -> None:
    """Make records what they were, the first of each key last."""
    for key, was in reversed(before):
        if was is None:
            txn.delete(key)
        else:
            txn.put(key, was)


def _look(
    shared: Shared,
    txn: Transaction,
    places: Sequence[Place],
    costs: Sequence[int],
    now: int,
) -> list[State]:
    states = []
    for (key, tick, amount), cost in zip(places, costs, strict=True):
        record = txn.get(key)
        if tick:
            mended = windows.set_back(record, now // tick)
            if mended is not None:
                txn.put(key, mended)
            states.append(windows.look(record, amount, cost, tick, now))
        else:
            states.append(slots.look(record, amount, cost, shared.alive))
    return states

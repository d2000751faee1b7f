"""Fixed windows of the calendar: the amount taken within one, as a small record of bytes.

The laws, for any time zone and any change of it (in the config, or in the time zone database):

- Each request counts in one window, and no more than the amount passes in a window.
- A window ends when it has ended both in the time zone in which it began and in the current one. It
  is the same window as the one of the current time zone that contains its middle.
- If the clock was set back by more than a window, the count moves to the current window.
- An empty window is not stored, and replaces none: the one before may be the current one in another
  time zone.

A record is three int64: the total, and the start and end of the window. Times are Unix
microseconds. `window` is the start and end of the current window of the calendar. All functions
take and return values.
"""

from __future__ import annotations

from struct import Struct

from engine.stores.counters.windows import MAX_TOTAL
from engine.values.counters import LimitState

Window = tuple[int, int]

_RECORD = Struct("<qqq")
_pack, _unpack = _RECORD.pack, _RECORD.unpack


def read(record: bytes | None, window: Window, now: int) -> tuple[int, int, int]:
    """The current total, and the start and end of its window."""
    start, end = window
    if record is None:
        return 0, start, end
    total, first, last = _unpack(record)
    if first == start and last == end:  # the usual case
        return total, start, end
    if first > end or not total:
        return total, start, end
    is_present = 2 * start <= first + last < 2 * end
    if now >= last and not is_present:
        return 0, start, end
    return total, first, max(last, end) if is_present else last


def start_of(record: bytes | None, window: Window, now: int) -> int:
    """The start of the window in which a request counts now, which names the window in receipts."""
    return read(record, window, now)[1]


def is_expired(record: bytes, now: int) -> bool:
    """Whether a record is expired in every time zone: its window ended as long ago as it lasted."""
    _, first, last = _unpack(record)
    return bool(now >= 2 * last - first)


def take(
    record: bytes | None, amount: int, cost: int, window: Window, now: int
) -> tuple[bytes | None, int, float] | None:
    """The record after `cost` was taken, the amount left, and the seconds until the window ends;
    None if the limit denies."""
    total, start, end = read(record, window, now)
    after = total + cost
    if after > amount or (not cost and after == amount):
        return None
    if after:
        record = _pack(after, start, end)
    return record, amount - after, (end - now) / 1e6


def look(record: bytes | None, amount: int, cost: int, window: Window, now: int) -> LimitState:
    """The state of a limit without taking; `wait` is 0 if `cost` would pass."""
    total, start, end = read(record, window, now)
    wait = 0
    if total + (cost or 1) > amount:
        wait = end - start if (cost or 1) > amount else end - now
    return LimitState(max(amount - total, 0), (end - now) / 1e6, wait / 1e6)


def correct(
    record: bytes | None, window: Window, now: int, charge_start: int, change: int
) -> bytes | None:
    """The record with its total changed by `change`, None if it is empty.

    If the window that began at `charge_start` has ended, an increase counts in the current one, and
    a decrease does nothing.
    """
    total, start, end = read(record, window, now)
    if start != charge_start and change <= 0:
        return record
    total = min(max(total + change, 0), MAX_TOTAL)
    return _pack(total, start, end) if total else None

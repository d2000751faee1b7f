"""How much was taken within a sliding window: a small record of counts, as bytes.

A window is cut into 32 buckets of `tick` microseconds (rounded up); `bucket` is a time divided by
`tick`, rounded down. What lies within the last `window` lies in the current bucket or the 32 before
it, and all of those are counted whole. That is the law: never more than `amount` pass in any
window, and what was taken comes free at most one tick later than a log of every request would say.

A record is three int64 (`HEAD`: the total, its newest bucket, what was taken in that), then the
older buckets that are not empty, oldest first, nine bytes each (`PAIR`: the bucket modulo 256, what
was taken). It is 24 to 312 bytes, however large the amount. All functions take and return values.
"""

from __future__ import annotations

import math
from struct import Struct

from engine.values.counters import State

BUCKETS = 32
FREE = BUCKETS + 1
"""What was taken in a bucket is free again when this many have begun after it."""
MOST = 2**53
"""No total grows beyond this: every store can count so far exactly."""

HEAD = Struct("<qqq")
PAIR = Struct("<Bq")

_head, _head_of = HEAD.pack, HEAD.unpack_from
_pair_of = PAIR.unpack_from


def tick_of(window: float) -> int:
    """Microseconds of one bucket of a window of so many seconds."""
    return max(1, math.ceil(window * 1_000_000 / BUCKETS))


def read(record: bytes | None, bucket: int) -> tuple[int, int, bytes]:
    """The total as of a bucket, what was taken in it, and the older buckets that still count.

    Where the clock was set back, all that counts does so as if it were taken now: what is denied
    for that is denied for one window and not until the clock has caught up.
    """
    if record is None:
        return 0, 0, b""
    total, newest, count = _head_of(record)
    if newest == bucket:
        return total, count, record[24:]
    if newest > bucket:
        return total, total, b""
    if bucket - newest > BUCKETS:
        return 0, 0, b""
    older = record[24:]
    if count:
        older += PAIR.pack(newest & 255, count)
    gone = 0
    while gone < len(older):
        mark, count = _pair_of(older, gone)
        if (bucket - mark) & 255 <= BUCKETS:  # no older bucket is more than 64 behind
            break
        total -= count
        gone += 9
    return total, 0, older[gone:]


def set_back(record: bytes | None, bucket: int) -> bytes | None:
    """What to keep instead of a record that is ahead of the clock; None for any other. Whoever
    takes nothing keeps this, so that the window begins to end."""
    if record is None or _head_of(record)[1] <= bucket:
        return None
    total, count, older = read(record, bucket)
    return HEAD.pack(total, bucket, count) + older


def take(
    record: bytes | None, amount: int, cost: int, tick: int, now: int
) -> tuple[bytes, int, float] | None:
    """The record after something was taken at `now` (microseconds), what is left and the seconds
    until all of it is there again; None when that is denied."""
    bucket = now // tick
    if record is not None:
        total, newest, count = _head_of(record)
        after = total + cost
        if newest == bucket and cost and after <= amount:  # as nearly always under load
            reset = ((bucket + FREE) * tick - now) / 1e6
            return _head(after, bucket, count + cost) + record[24:], amount - after, reset
    total, count, older = read(record, bucket)
    after = total + cost
    if after > amount or (not cost and after == amount):
        return None
    newest = bucket if cost else _newest(count, older, bucket)
    reset = ((newest + FREE) * tick - now) / 1e6 if after else 0.0
    return _head(after, bucket, count + cost) + older, amount - after, reset


def look(record: bytes | None, amount: int, cost: int, tick: int, now: int) -> State:
    """How a limit stands when nothing is taken of it: `wait` says whether `cost` would pass."""
    bucket = now // tick
    total, count, older = read(record, bucket)
    reset = (_newest(count, older, bucket) + FREE) * tick - now if total else 0
    over = total + (cost or 1) - amount
    if over <= 0:
        wait = 0
    elif over > total:
        wait = tick * BUCKETS
    else:
        wait = (_frees(older, bucket, over) + FREE) * tick - now
    return State(max(amount - total, 0), reset / 1e6, wait / 1e6)


def _newest(count: int, older: bytes, bucket: int) -> int:
    """The newest bucket in which something was taken."""
    return bucket if count or not older else bucket - ((bucket - older[-9]) & 255)


def _frees(older: bytes, bucket: int, over: int) -> int:
    """The bucket that gives back the last of `over`, going from the oldest."""
    mark: int
    for mark, count in PAIR.iter_unpack(older):
        over -= count
        if over <= 0:
            return bucket - ((bucket - mark) & 255)
    return bucket


def correct(record: bytes | None, bucket: int, taken: int, by: int) -> bytes | None:
    """The record as of `bucket` with what was taken in bucket `taken` more or less by `by`.

    Where bucket `taken` counts no longer, more is charged to the current one, and there is nothing
    to give back. None when nothing is left to keep.
    """
    if record is not None:
        total, newest, count = _head_of(record)
        if newest == bucket == taken and count + by > 0 and total + by <= MOST:  # most often
            return _head(total + by, bucket, count + by) + record[24:]
    total, count, older = read(record, bucket)
    if total + by > MOST:
        by = MOST - total
    age = bucket - taken
    at = older[::9].find(taken & 255) * 9 if 0 < age <= BUCKETS else -1
    if at >= 0:
        _, there = _pair_of(older, at)
        by = max(by, -there)
        left = PAIR.pack(taken & 255, there + by) if there + by else b""
        older = older[:at] + left + older[at + 9 :]
    elif age <= 0 or by > 0:
        if count + by < 0:
            by = -count
        count += by
    else:
        by = 0
    return _head(total + by, bucket, count) + older if total + by else None

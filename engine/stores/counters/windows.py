"""Sliding windows: the amount taken within the last `window`, as a small record of bytes.

A window is divided into 32 buckets of `tick` microseconds (rounded up); `bucket` is a time divided
by `tick`, rounded down. The last `window` is within the current bucket and the 32 before it, all of
which count in full. So never more than `amount` passes in any window, and what was taken is free
again at most one tick later than with an exact log of all requests.

A record is three int64 (`HEAD`: the total, the newest bucket, the count of the newest bucket), then
the older buckets that are not empty, oldest first, nine bytes each (`PAIR`: the bucket modulo 256,
its count). It has 24 to 312 bytes for any amount. All functions take and return values.
"""

from __future__ import annotations

import math
from struct import Struct

from engine.values.counters import LimitState

BUCKETS = 32
FREE = BUCKETS + 1
"""The amount of a bucket is free again when this many buckets have begun after it."""
MAX_TOTAL = 2**53
"""The greatest total: every store counts up to it exactly (Lua's numbers are doubles)."""

HEAD = Struct("<qqq")
PAIR = Struct("<Bq")

_head, _head_of = HEAD.pack, HEAD.unpack_from
_pair_of = PAIR.unpack_from


def tick_of(window: float) -> int:
    """Microseconds of one bucket of a window of so many seconds."""
    return max(1, math.ceil(window * 1_000_000 / BUCKETS))


def read(record: bytes | None, bucket: int) -> tuple[int, int, bytes]:
    """The total as of a bucket, the count of that bucket, and the older buckets that still count.

    If the clock was set back, all counts move to the current bucket, so that they deny for one
    window and not until the clock has caught up.
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
    expired = 0
    while expired < len(older):
        bucket_mod, count = _pair_of(older, expired)
        if (bucket - bucket_mod) & 255 <= BUCKETS:  # unambiguous: at most 64 buckets behind
            break
        total -= count
        expired += 9
    return total, 0, older[expired:]


def set_back(record: bytes | None, bucket: int) -> bytes | None:
    """The replacement of a record that is ahead of the clock, None for any other. A reader writes
    it too, so that the window begins to expire."""
    if record is None or _head_of(record)[1] <= bucket:
        return None
    total, count, older = read(record, bucket)
    return HEAD.pack(total, bucket, count) + older


def sweep(record: bytes, bucket: int) -> bytes | None:
    """The record as it stays in a store, see `set_back`; None if nothing of it counts any more."""
    _, newest, count = _head_of(record)
    if count and newest <= bucket <= newest + BUCKETS:  # the usual case
        return record
    adjusted = set_back(record, bucket) or record
    return adjusted if read(adjusted, bucket)[0] else None


def take(
    record: bytes | None, amount: int, cost: int, tick: int, now: int
) -> tuple[bytes, int, float] | None:
    """The record after `cost` was taken at `now` (microseconds), the amount left, and the seconds
    until the full amount is available again; None if the limit denies."""
    bucket = now // tick
    if record is not None:
        total, newest, count = _head_of(record)
        after = total + cost
        if newest == bucket and cost and after <= amount:  # the usual case under load
            reset = ((bucket + FREE) * tick - now) / 1e6
            return _head(after, bucket, count + cost) + record[24:], amount - after, reset
    total, count, older = read(record, bucket)
    after = total + cost
    if after > amount or (not cost and after == amount):
        return None
    newest = bucket if cost else _newest(count, older, bucket)
    reset = ((newest + FREE) * tick - now) / 1e6 if after else 0.0
    return _head(after, bucket, count + cost) + older, amount - after, reset


def look(record: bytes | None, amount: int, cost: int, tick: int, now: int) -> LimitState:
    """The state of a limit without taking; `wait` is 0 if `cost` would pass."""
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
    return LimitState(max(amount - total, 0), reset / 1e6, wait / 1e6)


def _newest(count: int, older: bytes, bucket: int) -> int:
    """The newest bucket with a count."""
    return bucket if count or not older else bucket - ((bucket - older[-9]) & 255)


def _frees(older: bytes, bucket: int, over: int) -> int:
    """The bucket whose expiry frees the last part of `over`, from the oldest bucket on."""
    bucket_mod: int
    for bucket_mod, count in PAIR.iter_unpack(older):
        over -= count
        if over <= 0:
            return bucket - ((bucket - bucket_mod) & 255)
    return bucket


def correct(record: bytes | None, bucket: int, charge_bucket: int, change: int) -> bytes | None:
    """The record as of `bucket` with the count of the bucket `charge_bucket` changed by `change`;
    None if it is empty. If `charge_bucket` has expired, an increase counts in the current one, and
    a decrease does nothing.
    """
    if record is not None:
        total, newest, count = _head_of(record)
        in_newest = newest == bucket == charge_bucket
        if in_newest and count + change > 0 and total + change <= MAX_TOTAL:  # the usual case
            return _head(total + change, bucket, count + change) + record[24:]
    total, count, older = read(record, bucket)
    if total + change > MAX_TOTAL:
        change = MAX_TOTAL - total
    age = bucket - charge_bucket
    at = older[::9].find(charge_bucket & 255) * 9 if 0 < age <= BUCKETS else -1
    if at >= 0:
        _, present = _pair_of(older, at)
        change = max(change, -present)
        corrected = PAIR.pack(charge_bucket & 255, present + change) if present + change else b""
        older = older[:at] + corrected + older[at + 9 :]
    elif age <= 0 or change > 0:
        if count + change < 0:
            change = -count
        count += change
    else:
        change = 0
    return _head(total + change, bucket, count) + older if total + change else None

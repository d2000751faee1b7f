"""Names of requests: in the order of time, so that an index of them grows at its end."""

from __future__ import annotations

import os
import time

_DIGITS = 20
_BOUGHT = 200
"""Asking the kernel for chance costs a system call, so it is asked for many names at once."""

_drawn: list[str] = []


def request_id() -> str:
    """A new name: milliseconds since 1970 in 12 hexadecimal digits, then 80 bits of chance."""
    if not _drawn:
        chance = os.urandom(_BOUGHT * _DIGITS // 2).hex()
        _drawn.extend(chance[at : at + _DIGITS] for at in range(0, len(chance), _DIGITS))
    return "req_%012x%s" % (time.time_ns() // 1_000_000, _drawn.pop())  # noqa: UP031 - quicker


# Another process must not draw the same.
os.register_at_fork(after_in_child=_drawn.clear)

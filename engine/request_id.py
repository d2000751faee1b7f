"""Names of requests: in the order of time, so that an index of them grows at its end."""

from __future__ import annotations

import os
import time

_DIGITS = 20
_BOUGHT = 200
"""Asking the kernel for chance costs a system call, so it is asked for many names at once."""

_chance = ""


def request_id() -> str:
    """A new name: milliseconds since 1970 in 12 hexadecimal digits, then 80 bits of chance."""
    global _chance
    if not _chance:
        _chance = os.urandom(_BOUGHT * _DIGITS // 2).hex()
    drawn, _chance = _chance[-_DIGITS:], _chance[:-_DIGITS]
    return f"req_{time.time_ns() // 1_000_000:012x}{drawn}"


def _forget() -> None:
    """Another process must not draw the same."""
    global _chance
    _chance = ""


os.register_at_fork(after_in_child=_forget)

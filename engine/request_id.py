"""Names of requests: in the order of time, so that an index of them grows at its end."""

from __future__ import annotations

import time

from engine.chance import Chance

_draw = Chance(20).draw


def request_id() -> str:
    """A new name: milliseconds since 1970 in 12 hexadecimal digits, then 80 bits of chance."""
    return "req_%012x%s" % (time.time_ns() // 1_000_000, _draw())  # noqa: UP031 - quicker

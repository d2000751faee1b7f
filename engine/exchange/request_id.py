"""Request ids: ordered by time, so that an index of them grows at its end."""

from __future__ import annotations

import os
import time


def request_id() -> str:
    """`req_`, milliseconds since 1970 in 12 hexadecimal digits, then 80 random bits in 20."""
    return f"req_{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"

"""Waiting for a state of the bed."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable


def until(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> float:
    """Wait for a condition; the seconds it took. Raises TimeoutError that says `what`."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise TimeoutError(f"{what} did not happen within {seconds:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - start


def accepts(address: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((address, port), 1).close()
    except OSError:
        return False
    return True

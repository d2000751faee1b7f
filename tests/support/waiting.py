"""Waiting for a condition in a test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 50.0
"""Seconds until a condition that does not hold is a failure. Long, as other programs may take all
processors; shorter than the default timeouts of upstreams, which must not be what fulfils it."""


def until(
    condition: Callable[[], Any],
    what: str = "the condition",
    patience: float = PATIENCE,
    *,
    sleep: Callable[[float], object] = time.sleep,
) -> Any:
    """Wait for a true result, and return it. `sleep` is gevent's where greenlets must run.

    AssertionError after `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not in {patience} s: {what}"
        sleep(0.01)
    return result

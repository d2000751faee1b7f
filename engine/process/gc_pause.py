"""Pausing Python's garbage collector while thousands of long-lived objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection(*, keep: bool = False) -> Iterator[None]:
    """Disable the cyclic collector in a `with` block: scanning long-lived objects again and again
    takes longer than creating them.

    With `keep`, `gc.freeze()` then exempts all existing objects from later collections."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if keep:
            gc.freeze()
        if was_enabled:
            gc.enable()

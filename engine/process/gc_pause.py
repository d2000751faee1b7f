"""Pauses Python's garbage collector while thousands of long-lived objects are created, and returns
the memory that is free behind it."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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


def release_memory() -> None:
    """Collect unreachable cycles, return free memory, and exempt the remaining objects from later
    collections, which would write to every memory page that workers share."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return_memory()


def return_memory() -> None:
    """Return free memory of the C library to the system."""
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
    if trim is not None:
        trim(0)

"""The garbage collector of Python, off while thousands of objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection(*, keep: bool = False) -> Iterator[None]:
    """Collect no garbage within: looking for it among objects that stay takes longer than making
    them. Afterwards all objects are looked through at once, unless what there is by then is to
    `keep`: it is left to no later collection."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if keep:
            gc.freeze()
        if was_enabled:
            gc.enable()

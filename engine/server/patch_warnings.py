"""gevent's warning about a module that it cannot patch, and that nothing uses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gevent.monkey import MonkeyPatchWarning

_UNUSED = r".*\(NOT patched\): \['redis\.asyncio\.connection \([^']*\)'\]"
"""The warning that only this module of redis-py is not patched."""


@contextmanager
def no_patch_warning() -> Iterator[None]:
    """Apply gevent's patches in this block."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _UNUSED, MonkeyPatchWarning)
        yield

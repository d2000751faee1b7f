"""gevent's patches of the standard library, in a process that was forked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any

from gevent.monkey import MonkeyPatchWarning

_UNUSED = r".*\(NOT patched\): \['redis\.asyncio\.connection \([^']*\)'\]"
"""gevent's warning that only this module of redis-py is not patched: nothing uses it."""


@cache
def entry_points() -> Any:
    """Those of all distributions that are installed, to `select` from. Called in the master, so
    that its children need not read them."""
    return metadata.entry_points()


@contextmanager
def patching() -> Iterator[None]:
    """Apply the patches in this block. Around each of 25 parts gevent looks for plug-ins of its own
    among all distributions, which takes a tenth of a second and 4 MB: they are read once."""
    read = metadata.entry_points
    points = entry_points()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _UNUSED, MonkeyPatchWarning)
        setattr(metadata, "entry_points", points.select)  # noqa: B010 - a function of a module
        try:
            yield
        finally:
            setattr(metadata, "entry_points", read)  # noqa: B010

"""gevent's patches of the standard library in a worker."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata

# What gevent would import in each worker; those of one master share it.
import gevent.events
import gevent.select
import gevent.selectors
import gevent.signal
import gevent.threading
import gevent.time  # noqa: F401 - the name is that of all
from gevent.monkey import MonkeyPatchWarning

_PREFIX = "gevent."
"""Of the groups of gevent's plug-ins."""
_UNUSED = (
    r".*\(NOT patched\): "
    r"\[(?:(?:, )?'(?:redis\.asyncio\.connection|jwt\.jwks_client) \([^']*\)')+\]"
)
"""gevent's warning that only these modules are not patched, of which the gateway uses none."""


@cache
def gevent_plugins() -> tuple[metadata.EntryPoint, ...]:
    """The plug-ins of gevent that distributions bring. A master calls this, so that its workers
    know them."""
    return tuple(
        entry_point
        for distribution in metadata.distributions()
        # Reading the text is cheap; parsing the entry points of every distribution is not.
        if _PREFIX in (distribution.read_text("entry_points.txt") or "")
        for entry_point in distribution.entry_points
        if entry_point.group.startswith(_PREFIX)
    )


@contextmanager
def patching() -> Iterator[None]:
    """Patch in a `with` block, without the warning about unused modules of redis-py and PyJWT.

    For each module gevent looks for its plug-ins twice, among the files of all distributions: a
    tenth of a second in all. Here it gets those that were found once.
    """

    def plugins_of(group: str) -> list[metadata.EntryPoint]:
        return [plugin for plugin in gevent_plugins() if plugin.group == group]

    entry_points = metadata.entry_points
    setattr(metadata, "entry_points", plugins_of)  # noqa: B010 - the types do not allow it
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _UNUSED, MonkeyPatchWarning)
            yield
    finally:
        setattr(metadata, "entry_points", entry_points)  # noqa: B010

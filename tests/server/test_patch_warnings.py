"""Of gevent's warnings only the one about an unused module is not shown."""

from __future__ import annotations

import warnings

from gevent.monkey import MonkeyPatchWarning

from engine.server.patch_warnings import no_patch_warning

UNUSED = (
    "Monkey-patching outside the main native thread. Some APIs will not be available. "
    "(NOT patched): ['redis.asyncio.connection (/x/redis/asyncio/connection.py)']"
)


def test_only_the_warning_of_the_unused_module_is_left_out() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with no_patch_warning():
            warnings.warn(UNUSED, MonkeyPatchWarning, stacklevel=1)
            warnings.warn(UNUSED.replace("redis", "ours"), MonkeyPatchWarning, stacklevel=1)
    assert ["ours" in str(warning.message) for warning in caught] == [True]

"""gevent's patches: of its warnings one is not shown, and its plug-ins are looked for once."""

from __future__ import annotations

import warnings
from importlib import metadata

import pytest
from gevent.monkey import MonkeyPatchWarning

from engine.server.gevent_patches import entry_points, patching

UNUSED = (
    "Monkey-patching outside the main native thread. Some APIs will not be available. "
    "(NOT patched): ['redis.asyncio.connection (/x/redis/asyncio/connection.py)']"
)

PLUGINS = "gevent.plugins.monkey.will_patch_all"
"""A group of which gevent has a plug-in itself."""


def test_only_the_warning_of_the_unused_module_is_left_out() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with patching():
            warnings.warn(UNUSED, MonkeyPatchWarning, stacklevel=1)
            warnings.warn(UNUSED.replace("redis", "ours"), MonkeyPatchWarning, stacklevel=1)
    assert ["ours" in str(warning.message) for warning in caught] == [True]


def test_distributions_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []
    distributions = metadata.distributions

    def count(**context: object) -> object:
        reads.append(context)
        return distributions()

    plugins = metadata.entry_points(group=PLUGINS)
    monkeypatch.setattr(metadata, "distributions", count)
    entry_points.cache_clear()
    with patching():
        found = [metadata.entry_points(group=PLUGINS) for _ in range(3)]
    assert set(found[0]) == set(plugins) != set()
    assert len(reads) == 1
    entry_points.cache_clear()


def test_others_read_them_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    before = metadata.entry_points
    with pytest.raises(KeyError), patching():
        raise KeyError
    assert metadata.entry_points is before

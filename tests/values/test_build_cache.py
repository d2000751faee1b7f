"""Values that are built once for equal settings."""

from __future__ import annotations

import pytest

from engine.values.build_cache import BuildCache


def test_equal_settings_share_a_value() -> None:
    shared = BuildCache()
    first = shared.once(("a", (1,)), object)
    assert shared.once(("a", (1,)), object) is first
    assert shared.once(("b", (1,)), object) is not first
    assert len(shared) == 2


def test_a_value_that_cannot_be_built_is_built_at_the_next_call() -> None:
    shared = BuildCache()
    with pytest.raises(ZeroDivisionError):
        shared.once("a", lambda: 1 // 0)
    assert shared.once("a", lambda: 2) == 2


def test_a_value_that_another_greenlet_built_meanwhile_is_shared() -> None:
    """A computing greenlet may be interrupted while it builds."""
    shared = BuildCache()
    others = list[object]()

    def build() -> object:
        others.append(shared.once("a", object))
        return object()

    assert shared.once("a", build) is others[0]
    assert shared.once("a", object) is others[0]

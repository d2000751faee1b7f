"""Regions of upstreams, and what requests require of them."""

from __future__ import annotations

from collections.abc import Iterable

from engine.values.caller import AllowLists
from engine.values.wildcard import matches


def are_within(regions: Iterable[str], lists: AllowLists) -> bool:
    """Whether an upstream with these regions may get a request: each of them must match an entry of
    each list. An upstream without regions may process a request anywhere, so it may not."""
    names = tuple(regions)
    return bool(names) and all(
        any(matches(name, entry) for entry in allowed) for allowed in lists for name in names
    )


def region_text(lists: AllowLists) -> str:
    """The required regions for a sentence: `eu or ch`."""
    return " and ".join(" or ".join(allowed) for allowed in lists)

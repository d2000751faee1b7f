"""Values that many routes, operations or stages have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class BuildCache:
    """Values by their settings, each built once: equal settings share a value."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self._values)

    def once(self, settings: Hashable, build: Callable[[], T]) -> T:
        """The value of these settings: what `build` returned for the first of equal ones."""
        if settings not in self._values:
            value = build()
            self._values.setdefault(settings, value)  # another greenlet may have built it meanwhile
        result: T = self._values[settings]
        return result

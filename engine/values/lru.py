"""An LRU cache for values that expire or have sizes, where `functools.lru_cache` does not fit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """The entries that were used last: at most `size` of them or, with `size_of`, entries whose
    sizes sum up to `size`. No value is None."""

    __slots__ = ("_entries", "_room", "_size_of")

    def __init__(self, size: int, size_of: Callable[[V], int] = lambda value: 1) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._room = size
        self._size_of = size_of

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> V | None:
        """The value, None if there is none."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The value, which `make` makes if there is none."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Set the value. The entries that were used longest ago make room for it."""
        self.discard(key)
        self._entries[key] = value
        self._room -= self._size_of(value)
        while self._room < 0:
            self._room += self._size_of(self._entries.popitem(last=False)[1])

    def discard(self, key: K) -> None:
        """Remove the value, if there is one."""
        value = self._entries.pop(key, None)
        if value is not None:
            self._room += self._size_of(value)

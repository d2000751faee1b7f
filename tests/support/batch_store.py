"""A store of batches in memory, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class MemoryBatches:
    """As `stores.database.batches.BatchTable`. `entries` are those that were counted; `error` is
    raised by all methods, if there is one."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.entries: dict[bytes, Any] = {}
        self._data: dict[bytes, bytes] = {}

    def put(self, key: bytes, data: bytes) -> None:
        self._fail()
        self._data.setdefault(key, data)

    def get(self, key: bytes) -> bytes | None:
        self._fail()
        return self._data.get(key)

    def count(self, rows: Sequence[tuple[bytes, Any]], claim: bytes) -> set[bytes]:
        self._fail()
        new = {key for key, _ in rows if key not in self.entries}
        self.entries.update((key, entry) for key, entry in rows if key in new)
        return new

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error

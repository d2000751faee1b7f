"""The objects that the mock keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.values.errors import GatewayError
from engine.values.trees import Json

MAX_OBJECTS = 10_000
"""Objects of one collection, and ids of deleted ones; the oldest make room."""


@dataclass(slots=True)
class MockObject:
    """An object, the bytes that came with it, the number of stages that it has gone through, and
    the changes behind the last one."""

    value: Json
    content: bytes = b""
    stage: int = 0
    events: Sequence[bytes] = ()
    last: Json = field(default_factory=dict)


@dataclass(slots=True)
class ObjectStore:
    """The objects of one dialect: by collection, the path below the mount, and by id.

    `is_strict`: an object that was never kept does not exist. Otherwise only one that was deleted
    does not, and of any other nothing is known.
    """

    is_strict: bool = True
    collections: dict[str, dict[str, MockObject]] = field(default_factory=dict)
    deleted: dict[tuple[str, str], None] = field(default_factory=dict)

    def keep(self, collection: str, id_: str, value: Json, content: bytes = b"") -> MockObject:
        """Keep a new object, or the new value of one."""
        objects = self.collections.setdefault(collection, {})
        while len(objects) >= MAX_OBJECTS:
            del objects[next(iter(objects))]
        self.deleted.pop((collection, id_), None)
        entry = objects[id_] = MockObject(value, content)
        return entry

    def find(self, collection: str, id_: str) -> MockObject | None:
        """None if nothing is known of it. Raises GatewayError 404 if it does not exist."""
        entry = self.collections.get(collection, {}).get(id_)
        if entry is None and (self.is_strict or (collection, id_) in self.deleted):
            raise GatewayError(404, "not_found", f"There is no '{id_}' in {collection}.")
        return entry

    def delete(self, collection: str, id_: str) -> None:
        """Delete an object that was found."""
        del self.collections[collection][id_]
        while len(self.deleted) >= MAX_OBJECTS:
            del self.deleted[next(iter(self.deleted))]
        self.deleted[collection, id_] = None

    def listed(self, collection: str) -> dict[str, MockObject] | None:
        """The objects of a collection by id; None if nothing is known of it."""
        return self.collections.get(collection, {} if self.is_strict else None)

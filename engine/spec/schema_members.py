"""The members that a schema names, and other spellings of them in a value: some servers take `Stop`
for `stop` or `topK` for `top_k`, and the last of the two."""

from __future__ import annotations

from collections.abc import Callable

from engine.spec.document.schema_keywords import of_items, same_value
from engine.spec.expression import lenient_member


class SchemaMembers:
    """The members and items that a JSON Schema without references speaks of."""

    __slots__ = ("_folded", "_items", "_members")

    def __init__(self, schema: object) -> None:
        self._members: dict[str, SchemaMembers] = {}
        self._items: SchemaMembers | None = None
        self._add(schema)
        self._folded: dict[str, str] | None = None

    def _add(self, schema: object) -> None:
        if not isinstance(schema, dict):
            return
        for name, below in schema.get("properties", {}).items():
            self._members.setdefault(name, SchemaMembers(None))._add(below)
        dependent = schema.get("dependentRequired", {})
        lists = [schema.get("required", []), list(dependent), *dependent.values()]
        for name in (name for names in lists for name in names):
            self._members.setdefault(name, SchemaMembers(None))
        for below in of_items(schema):
            if isinstance(below, dict):
                self._items = self._items or SchemaMembers(None)
                self._items._add(below)
        for below in same_value(schema):
            self._add(below)

    def __bool__(self) -> bool:
        return bool(self._members) or self._items is not None

    def misspelt(self, value: object, reading: Callable[[str], str]) -> tuple[str, str] | None:
        """A member of a value that is another spelling of one that the schema names, and that name.
        `reading` gives what a name of the outermost object may be taken for."""
        if isinstance(value, dict) and self._members:
            readings = self._readings(reading)
            for key, below in value.items():
                name = key if key in self._members else readings.get(reading(key))
                if name is None:
                    continue
                if name != key:
                    return key, name
                if spelling := self._members[name].misspelt(below, lenient_member):
                    return spelling
        if isinstance(value, list) and self._items is not None:
            found_in = (self._items.misspelt(item, lenient_member) for item in value)
            return next((spelling for spelling in found_in if spelling), None)
        return None

    def _readings(self, reading: Callable[[str], str]) -> dict[str, str]:
        if reading is not lenient_member:
            return {reading(name): name for name in self._members}
        if self._folded is None:
            self._folded = {lenient_member(name): name for name in self._members}
        return self._folded

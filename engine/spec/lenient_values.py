"""What a lenient parser may take a value for, where a JSON Schema speaks of another type, and a
member for, where it names one.

Parsers differ: Protocol Buffers read `"5"` and `5.0` as the integer 5 and a number as a word of an
enumeration, pydantic reads `"yes"` as true, PHP `"5000 tokens"` as 5000, Jackson `[5]` as 5, many
compare words without regard to case, and some take `Stop` for `stop` or `topK` for `top_k`, and the
last of the two. A condition that refuses a value also refuses what one of them takes for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import is_
from typing import Any

from engine.spec.document.schema_keywords import BY_TYPE, of_items, same_value
from engine.spec.expression import lenient_member

_TYPES = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
_BOOLEAN = {"boolean"}
_FALSE = frozenset({"", "0", "0.0", "f", "false", "n", "no", "off", "none", "null", "nil"})
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_PREFIXED = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)")
_INFINITE = re.compile(r"([+-]?)(?:inf|infinity|\.inf|nan|\.nan)", re.IGNORECASE)
_MAX_NUMBER = 1.7e308
_MAX_DIGITS = 400


class LenientReading:
    """How a lenient parser reads values for a JSON Schema without references."""

    __slots__ = ("_items", "_members", "_types", "_words")

    def __init__(self, schema: object) -> None:
        self._types: set[str] = set()
        self._words: dict[str, str] = {}
        self._members: dict[str, LenientReading] = {}
        self._items: LenientReading | None = None
        self._add(schema)

    def _add(self, schema: object) -> None:
        if not isinstance(schema, dict):
            return
        declared = schema.get("type", [])
        self._types |= {declared} if isinstance(declared, str) else set(declared)
        self._types |= {kind for kind, words in BY_TYPE.items() if not words.isdisjoint(schema)}
        for value in (*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())):
            self._types.add(_type_of(value))
            if isinstance(value, str):
                self._words.setdefault(_word(value), value)
        if "integer" in self._types:
            self._types.add("number")
        for name, below in schema.get("properties", {}).items():
            self._members.setdefault(name, LenientReading(None))._add(below)
        for below in of_items(schema):
            self._items = self._items or LenientReading(None)
            self._items._add(below)
        for below in same_value(schema):
            self._add(below)

    def read(self, value: Any) -> Any:
        """What a lenient parser takes a value for; the value itself if that is clear."""
        types = self._types
        if types == _BOOLEAN and isinstance(value, dict | list) and _is_filled(value):
            return True
        if isinstance(value, dict):
            if types and types <= {"array"} and self._items is not None:
                return [self._items.read(value)]
            members = {n: each for n, each in self._members.items() if n in value}
            readings = {name: each.read(value[name]) for name, each in members.items()}
            is_clear = all(readings[name] is value[name] for name in readings)
            return value if is_clear else {**value, **readings}
        if isinstance(value, list):
            if "array" not in types and len(value) == 1 and types:
                return self.read(value[0])
            if self._items is None:
                return value
            items = list(map(self._items.read, value))
            return value if all(map(is_, items, value)) else items
        if isinstance(value, str) and "string" in types:
            word = self._words.get(_word(value), value.strip())
            return value if word == value else word
        if not types or value is None or _type_of(value) in types:
            return value
        return self._scalar(value, types)

    def _scalar(self, value: object, types: set[str]) -> Any:
        """A boolean, number or text where the schema speaks of other types."""
        if "number" in types and (number := _number(value)) is not None:
            return number
        if "boolean" in types:
            return _is_true(value)
        if "string" in types:
            text = str(value).lower() if isinstance(value, bool) else f"{value}"
            word = self._words.get(_word(text))
            return (
                (text if isinstance(value, bool) else self._numbered(text))
                if word is None
                else word
            )
        if "array" in types:
            return [value if self._items is None else self._items.read(value)]
        return value

    def _numbered(self, text: str) -> str:
        """A word for which a number may stand; the number's `text` where none is a name."""
        return next((word for word in self._words.values() if _number(word) is None), text)


def _type_of(value: object) -> str:
    return _TYPES.get(type(value), "null" if value is None else "object")


def _word(text: str) -> str:
    return text.strip().casefold()


def _is_true(value: object) -> bool:
    """Whether a text or number may be true: anything but what stands for false."""
    return _word(value) not in _FALSE if isinstance(value, str) else bool(value)


def _is_filled(value: Mapping[str, object] | list[object]) -> bool:
    """Whether an object or array is true where any value may be a condition, as in Python; the item
    of an array that has no other is read instead of it."""
    return len(value) > 1 or (isinstance(value, dict) and bool(value))


def _number(value: Any) -> int | float | None:
    """The number that a boolean, or a text at its beginning, stands for; None for none."""
    if not isinstance(value, str):
        return int(value)
    text = value.strip()[:_MAX_DIGITS]
    if match := _INFINITE.fullmatch(text):
        return -_MAX_NUMBER if match[1] == "-" else _MAX_NUMBER
    if match := _PREFIXED.match(text):
        number = min(int(match[2], 0), int(_MAX_NUMBER))
        return -number if match[1] == "-" else number
    if (match := _NUMBER.match(text)) is None:
        return None
    real = max(min(float(match[0].rstrip("_").replace("_", "")), _MAX_NUMBER), -_MAX_NUMBER)
    return int(real) if real.is_integer() and abs(real) < 2**63 else real


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

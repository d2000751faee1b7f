"""Values of `enum` that are not of the schema's type, and names in `required` that are no texts.

YAML reads `enum: [1, 2]` as numbers where the type is string, and quotes make texts of the numbers
that an integer may have: no value meets both keywords.
"""

from __future__ import annotations

import json
import math
from typing import Any

from engine.spec.document.repairs import Schema, SchemaRepair, Turn

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
}


def _repair(schema: Schema) -> None:
    """Read each value as what it says in the type of the schema."""
    value = schema.value
    kinds = value.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    kinds = [kind for kind in kinds if isinstance(kind, str) and kind != "null"]
    if isinstance(value.get("enum"), list) and len(kinds) == 1 and kinds[0] in _KINDS:
        _repair_items(schema, "enum", kinds[0])
    if isinstance(value.get("required"), list):
        _repair_items(schema, "required", "string")


def _repair_items(schema: Schema, key: str, kind: str) -> None:
    items = schema.value[key]
    read = [_read(item, kind) for item in items]
    wrong = [index for index, item in enumerate(items) if type(item) is not type(read[index])]
    if wrong:
        at, correct = wrong[0], json.dumps(read[wrong[0]], ensure_ascii=False)
        text = json.dumps(items[at], ensure_ascii=False)[:40]
        message = f"{text} in '{key}' is not of the type {kind}; it is read as {correct[:40]}"
        quotes = "in quotes" if kind == "string" else "without quotes"
        schema.warn_at((key, at), "MW255", message, f"write it {quotes}: {correct[:40]}")
        schema.value[key] = read


def _read(item: Any, kind: str) -> Any:
    """The item as a value of this type; as it is if it is one or cannot be one."""
    is_of = isinstance(item, _KINDS[kind]) and (kind == "boolean" or not isinstance(item, bool))
    if is_of or item is None or isinstance(item, dict | list):
        return item
    if kind == "string":
        return json.dumps(item)
    try:
        number = json.loads(item) if isinstance(item, str) else None
    except ValueError:
        return item
    if isinstance(number, float) and not math.isfinite(number):
        return item  # JSON has no such number
    is_read = isinstance(number, _KINDS[kind]) and (kind == "boolean") is isinstance(number, bool)
    return number if is_read else item


REPAIR = SchemaRepair(frozenset({"enum", "required"}), _repair, turn=Turn.TYPES)

"""Exclusive bounds in the form of the other version: a boolean in 3.1, a number in 3.0."""

from __future__ import annotations

from typing import Any

from engine.spec.document.repairs import Schema, SchemaRepair
from engine.values.trees import Json, is_number

_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def _repair(schema: Schema) -> None:
    """Write the bound in the form of the document's version."""
    value = schema.value
    for exclusive, plain in _BOUNDS.items():
        bound = value.get(exclusive)
        if isinstance(bound, bool) and not schema.is_30:
            message = f"'{exclusive}: {str(bound).lower()}' is of OpenAPI 3.0"
            schema.warn(exclusive, "MW223", message, f"in 3.1 it is the bound: {exclusive}: 0")
            del value[exclusive]
            if bound and is_number(value.get(plain)):
                value[exclusive] = value.pop(plain)
        elif is_number(bound) and schema.is_30:
            message = f"'{exclusive}' with a number is of OpenAPI 3.1"
            schema.warn(exclusive, "MW223", message, f"in 3.0 write {plain} and {exclusive}: true")
            _exclude(value, plain, exclusive, bound)
        elif isinstance(bound, bool) and plain not in value:
            message = (
                f"'{exclusive}: {str(bound).lower()}' has no {plain} beside it; it is left out"
            )
            schema.warn(exclusive, "MW223", message, f"write {plain} with the bound")
            del value[exclusive]


def _exclude(value: Json, plain: str, exclusive: str, bound: Any) -> None:
    """Write an exclusive bound of 3.1 in the form of 3.0, unless the inclusive one is stricter."""
    inclusive: object = value.get(plain)
    is_stricter = is_number(inclusive) and (
        inclusive > bound if plain == "minimum" else inclusive < bound
    )
    if is_stricter:
        del value[exclusive]
    else:
        value[plain], value[exclusive] = bound, True


REPAIR = SchemaRepair(frozenset({"exclusiveMinimum", "exclusiveMaximum"}), _repair)

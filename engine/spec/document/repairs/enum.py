"""`enum` that repeats a value."""

from __future__ import annotations

from engine.spec.document.compact_json import dumps
from engine.spec.document.repairs import Schema, SchemaRepair


def _repair(schema: Schema) -> None:
    """Remove repeated values."""
    values = schema.value["enum"]
    if not isinstance(values, list):
        return
    distinct = {dumps(value): value for value in reversed(values)}
    if len(distinct) < len(values):
        texts = [dumps(value) for value in values]
        repeated = sorted({text for text in texts if texts.count(text) > 1})
        message = f"'enum' repeats {', '.join(repeated)[:200]}"
        schema.warn("enum", "MW257", message, "keep one of them")
        schema.value["enum"] = [distinct[text] for text in dict.fromkeys(texts)]


REPAIR = SchemaRepair(frozenset({"enum"}), _repair)

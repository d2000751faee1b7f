"""`enum` that repeats a value, and `oneOf` that repeats a branch: the latter would refuse every
value that the branch accepts."""

from __future__ import annotations

from collections import Counter

from engine.spec.document.compact_json import dumps
from engine.spec.document.repairs import Schema, SchemaRepair

_CONSEQUENCES = {"enum": "", "oneOf": ", which it would never accept"}


def _repair(schema: Schema) -> None:
    """Remove repeated items."""
    for key, consequence in _CONSEQUENCES.items():
        items = schema.value.get(key)
        if not isinstance(items, list):
            continue
        texts = [dumps(item) for item in items]
        counts = Counter(texts)
        if len(counts) < len(items):
            repeated = sorted(text for text, count in counts.items() if count > 1)
            message = f"'{key}' repeats {', '.join(repeated)[:200]}{consequence}"
            schema.warn(key, "MW257", message, "keep one of them")
            first = dict(zip(reversed(texts), reversed(items), strict=True))
            schema.value[key] = [first[text] for text in counts]


REPAIR = SchemaRepair(frozenset(_CONSEQUENCES), _repair)

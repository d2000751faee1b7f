"""`oneOf` that repeats a branch: it would refuse every value that the branch accepts."""

from __future__ import annotations

from engine.spec.document.compact_json import dumps
from engine.spec.document.repairs import Schema, SchemaRepair


def _repair(schema: Schema) -> None:
    """Remove repeated branches."""
    branches = schema.value["oneOf"]
    if not isinstance(branches, list) or len(branches) < 2:
        return
    distinct = {dumps(branch): branch for branch in reversed(branches)}
    if len(distinct) < len(branches):
        texts = [dumps(branch) for branch in branches]
        repeated = sorted({text for text in texts if texts.count(text) > 1})
        message = f"'oneOf' repeats {', '.join(repeated)[:200]}, which it would never accept"
        schema.warn("oneOf", "MW257", message, "keep one of them")
        schema.value["oneOf"] = [distinct[text] for text in dict.fromkeys(texts)]


REPAIR = SchemaRepair(frozenset({"oneOf"}), _repair)

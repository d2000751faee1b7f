"""`format: binary`, which is of OpenAPI 3.0, in a 3.1 document."""

from __future__ import annotations

from engine.spec.document.repairs import Schema, SchemaRepair


def _repair(schema: Schema) -> None:
    """Only note it: form readers treat such a field as a file in both versions."""
    if not schema.is_30 and schema.value["format"] == "binary":
        message = "'format: binary' is of OpenAPI 3.0; it is read as a file"
        schema.warn("format", "MW225", message, "in 3.1 write {contentMediaType: ...} or nothing")


REPAIR = SchemaRepair(frozenset({"format"}), _repair)

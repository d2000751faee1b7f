"""`required` that repeats a name, is empty, or is true or false on the property (Draft 3)."""

from __future__ import annotations

from engine.spec.document.repairs import Schema, SchemaRepair


def _repair(schema: Schema) -> None:
    """Remove repeated names; move `required` of a property to the parent schema."""
    required = schema.value["required"]
    if required == [] and schema.is_30:
        schema.warn("required", "MW221", "'required' is empty, which 3.0 forbids", "remove it")
        del schema.value["required"]
    elif isinstance(required, list) and all(isinstance(name, str) for name in required):
        distinct = list(dict.fromkeys(required))
        if len(distinct) < len(required):
            repeated = sorted({name for name in required if required.count(name) > 1})
            message = f"'required' repeats {', '.join(map(repr, repeated))}"
            schema.warn("required", "MW221", message, "keep one of them")
            schema.value["required"] = distinct
    elif isinstance(required, bool) and schema.parent is not None and schema.name:
        del schema.value["required"]
        names = schema.parent.get("required", [])
        if required and isinstance(names, list) and schema.name not in names:
            schema.parent["required"] = [*names, schema.name]
        meaning = "is required" if required else "is optional"
        message = f"'required: {str(required).lower()}' on a property; '{schema.name}' {meaning}"
        schema.warn("required", "MW222", message, "list it in 'required' of the parent schema")


REPAIR = SchemaRepair(frozenset({"required"}), _repair)

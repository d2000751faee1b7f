"""`required` that repeats a name, or stands as true or false on the property itself (Draft 3)."""

from __future__ import annotations

from engine.spec.document.repairs import Schema

KEYS = frozenset({"required"})


def mend(schema: Schema) -> None:
    """Each name once; a property that says it of itself is required by the schema around it."""
    said = schema.value["required"]
    if isinstance(said, list) and all(isinstance(name, str) for name in said):
        once = list(dict.fromkeys(said))
        if len(once) < len(said):
            twice = sorted({name for name in said if said.count(name) > 1})
            message = f"'required' repeats {', '.join(map(repr, twice))}; once is meant"
            schema.warn("required", "MW221", message, "keep one of them")
            schema.value["required"] = once
    elif isinstance(said, bool) and schema.parent is not None and schema.name:
        del schema.value["required"]
        above = schema.parent.get("required", [])
        if said and isinstance(above, list) and schema.name not in above:
            schema.parent["required"] = [*above, schema.name]
        meaning = "is required" if said else "is optional"
        message = f"'required: {str(said).lower()}' on a property; '{schema.name}' {meaning}"
        schema.warn("required", "MW222", message, "list it in the schema around")

"""Keywords of earlier drafts of JSON Schema in a 3.1 document: `items` with a list, and
`dependencies`."""

from __future__ import annotations

from engine.spec.document.repairs import Schema, SchemaRepair
from engine.values.trees import Json


def _repair(schema: Schema) -> None:
    """Write them as the keywords of the draft 2020-12."""
    if schema.is_30:
        return
    value = schema.value
    items, dependencies = value.get("items"), value.get("dependencies")
    if isinstance(items, list) and "prefixItems" not in value and _are_schemas(items):
        _repair_items(value, items)
        _warn(schema, "items", "prefixItems", "prefixItems, and items for the others")
    if isinstance(dependencies, dict):
        names = {k: each for k, each in dependencies.items() if isinstance(each, list)}
        schemas = {k: each for k, each in dependencies.items() if k not in names}
        if _are_schemas([*schemas.values()]):
            del value["dependencies"]
            value["dependentRequired"] = names | value.get("dependentRequired", {})
            value["dependentSchemas"] = schemas | value.get("dependentSchemas", {})
            keywords = "dependentRequired, or dependentSchemas"
            _warn(schema, "dependencies", keywords, keywords)


def _are_schemas(values: list[object]) -> bool:
    return all(isinstance(value, dict | bool) for value in values)


def _repair_items(value: Json, items: list[object]) -> None:
    rest = value.pop("additionalItems", None)
    del value["items"]
    if items:
        value["prefixItems"] = items
    if isinstance(rest, dict | bool):
        value["items"] = rest


def _warn(schema: Schema, key: str, keywords: str, correct: str) -> None:
    subject = "a list in 'items'" if key == "items" else f"'{key}'"
    message = f"{subject} is of an earlier draft of JSON Schema; it is read as {keywords}"
    schema.warn(key, "MW223", message, f"in 3.1 write {correct}")


REPAIR = SchemaRepair(frozenset({"items", "dependencies"}), _repair)

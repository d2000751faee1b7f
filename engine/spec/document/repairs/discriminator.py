"""A discriminator that cannot choose, or not for all values that its schemas accept.

By the standard, a value that is neither mapped nor the name of a component is refused even if a
branch accepts it. For the engine, the branches decide about such a value.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.discriminators import default_of, place_of_mapped, reference_of, values_of
from engine.spec.document.repairs import Schema, SchemaRepair


def _repair(schema: Schema) -> None:
    """Leave out what cannot choose, and note values of branches that the mapping does not have."""
    discriminator = schema.value["discriminator"]
    if not isinstance(discriminator, dict) or not isinstance(
        discriminator.get("propertyName"), str
    ):
        message = "a discriminator needs the text 'propertyName'; it is left out"
        schema.warn("discriminator", "MW256", message, "write {propertyName: ...}")
        del schema.value["discriminator"]
        return
    mapping = discriminator.get("mapping", {})
    if not isinstance(mapping, dict):
        message = "the 'mapping' of a discriminator leads from values to schemas; it is left out"
        schema.warn_at(("discriminator", "mapping"), "MW256", message)
        del discriminator["mapping"]
        mapping = {}
    for tag in [tag for tag, target in mapping.items() if not _has_target(schema, target)]:
        message = f"there is no schema {str(mapping[tag])[:80]!r}; the schemas decide for '{tag}'"
        schema.warn_at(("discriminator", "mapping", tag), "MW256", message)
        del mapping[tag]
    default = discriminator.get("defaultMapping")
    if default is not None and not _has_target(schema, default):
        message = f"there is no schema {str(default)[:80]!r}; the schemas decide without a default"
        schema.warn_at(("discriminator", "defaultMapping"), "MW256", message)
        del discriminator["defaultMapping"]
    _note_unmapped(schema, discriminator["propertyName"], set(map(str, mapping)))


def _has_target(schema: Schema, target: object) -> bool:
    return isinstance(target, str) and place_of_mapped(schema.node, target) is not None


def _note_unmapped(schema: Schema, name: str, mapped: set[str]) -> None:
    """Note a value that a branch accepts and by the standard nothing maps to it."""
    default = default_of(schema.node)
    judge = "the schemas decide" if default is None else "its default decides"
    for branch in [*_list(schema, "oneOf"), *_list(schema, "anyOf")]:
        ref = reference_of(branch)
        if ref is None or default == place_of_mapped(schema.node, ref) is not None:
            continue
        names = mapped | {ref.rpartition("/")[2]}
        values = values_of(branch, name, schema.node.follow) or set()
        if values - names:
            message = f"the discriminator does not map {min(values - names)!r}; {judge}"
            schema.warn("discriminator", "MW226", message, "add a mapping, or leave it out")
            return


def _list(schema: Schema, key: str) -> list[Any]:
    branches = schema.value.get(key)
    return branches if isinstance(branches, list) else []


REPAIR = SchemaRepair(frozenset({"discriminator"}), _repair)

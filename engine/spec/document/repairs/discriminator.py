"""A discriminator without a mapping whose values are not the names of its schemas.

By the standard, a value that is not the name of a component is refused even if a branch accepts it.
For the engine a discriminator is only a hint: the branches decide.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import Node
from engine.spec.document.repairs import Schema

KEYS = frozenset({"discriminator"})


def repair(schema: Schema) -> None:
    """Note a discriminator that would refuse values which the branches accept."""
    discriminator = schema.value["discriminator"]
    if not isinstance(discriminator, dict) or not isinstance(
        discriminator.get("propertyName"), str
    ):
        return
    mapped = (
        set(map(str, discriminator["mapping"]))
        if isinstance(discriminator.get("mapping"), dict)
        else set()
    )
    for branch in [*_list(schema, "oneOf"), *_list(schema, "anyOf")]:
        ref = branch.get("$ref") if isinstance(branch, dict) else None
        if not isinstance(ref, str):
            continue
        names = mapped | {ref.rpartition("/")[2]}
        values = _values(Node(schema.node.library, schema.node.uri, (), branch), discriminator)
        if values - names:
            message = f"the discriminator does not map {min(values - names)!r}; the schemas decide"
            schema.warn("discriminator", "MW226", message, "add a mapping, or leave it out")
            return


def _list(schema: Schema, key: str) -> list[Any]:
    branches = schema.value.get(key)
    return branches if isinstance(branches, list) else []


def _values(branch: Node, discriminator: dict[str, Any]) -> set[str]:
    """The values of the discriminating property that a branch names."""
    shape = branch.resolved().get("properties").get(discriminator["propertyName"]).value
    if not isinstance(shape, dict):
        return set()
    values = [shape["const"]] if "const" in shape else shape.get("enum")
    return {v for v in values if isinstance(v, str)} if isinstance(values, list) else set()

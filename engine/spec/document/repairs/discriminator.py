"""A discriminator without a mapping whose values are not the names of its schemas.

The standard would look a value up among the components and refuse what every branch allows. Here a
discriminator is a hint: the branches decide.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import Node
from engine.spec.document.repairs import Schema

KEYS = frozenset({"discriminator"})


def mend(schema: Schema) -> None:
    """Say where the standard's own reading would refuse what the branches allow."""
    said = schema.value["discriminator"]
    if not isinstance(said, dict) or not isinstance(said.get("propertyName"), str):
        return
    mapped = set(map(str, said["mapping"])) if isinstance(said.get("mapping"), dict) else set()
    for branch in [*_list(schema, "oneOf"), *_list(schema, "anyOf")]:
        ref = branch.get("$ref") if isinstance(branch, dict) else None
        if not isinstance(ref, str):
            continue
        named = mapped | {ref.rpartition("/")[2]}
        values = _values(Node(schema.node.library, schema.node.uri, (), branch), said)
        if values - named:
            message = f"the discriminator does not map {min(values - named)!r}; the schemas decide"
            schema.warn("discriminator", "MW226", message, "add a mapping, or leave it out")
            return


def _list(schema: Schema, key: str) -> list[Any]:
    said = schema.value.get(key)
    return said if isinstance(said, list) else []


def _values(branch: Node, said: dict[str, Any]) -> set[str]:
    """What a branch takes as the discriminating property, as far as it says."""
    shape = branch.resolved().get("properties").get(said["propertyName"]).value
    if not isinstance(shape, dict):
        return set()
    values = [shape["const"]] if "const" in shape else shape.get("enum")
    return {v for v in values if isinstance(v, str)} if isinstance(values, list) else set()

"""The schemas of a place in a body, through references, `allOf`, `anyOf` and `oneOf`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from engine.spec.document.node import Node
from engine.spec.document.schema_keywords import REFERENCES

_COMBINED = ("allOf", "anyOf", "oneOf")
_MAX_PLACES = 500


class SchemaPlace(NamedTuple):
    """A place in a schema: the `schemas` that describe it; whether it is `free`, because a parent
    schema does not restrict its members; whether it is `required`."""

    schemas: list[Node]
    free: bool
    required: bool

    def __bool__(self) -> bool:
        """Whether a body can have the place."""
        return bool(self.schemas) or self.free


def place_in(schema: Node, steps: Sequence[str], any_step: str) -> SchemaPlace:
    """The place at the path `steps`; `any_step` stands for every member and every item."""
    place = SchemaPlace([schema], False, False)
    for step in steps:
        if not place.schemas:  # no schema describes the children of a free place
            return SchemaPlace([], place.free, False)
        place = _child(place.schemas, step, step == any_step)
    return place


def can_have(schemas: Sequence[Node], steps: Sequence[str], any_step: str) -> bool:
    """Whether a body of one of the schemas can have the place at the path `steps`, as `place_in`
    says. What leads there at once is looked for first: a union may have a hundred schemas."""
    return any(_leads_to(schema, steps, any_step) for schema in schemas) or any(
        place_in(schema, steps, any_step) for schema in schemas
    )


def _leads_to(schema: Node, steps: Sequence[str], any_step: str) -> bool:
    """Whether a place is found by the first schema of each step."""
    for step in steps:
        parts = _reachable([schema], _COMBINED)
        children = (c for part in parts for c in _own_children(part, step, step == any_step))
        child = next(children, None)
        if child is None:
            return False
        schema = child
    return True


def names_in(schema: Node) -> list[str]:
    """The names of all members that a schema describes."""
    return list(
        dict.fromkeys(n for node in _parts([schema]) for n, _ in node.get("properties").items())
    )


def _child(schemas: Iterable[Node], step: str, any_step: bool) -> SchemaPlace:
    parts = _parts(schemas)
    children: list[Node] = []
    for node in parts:
        children += _own_children(node, step, any_step)
    described = any(_describes(node) for node in parts)
    if not children:
        extra = [node.get("additionalProperties") for node in parts]
        children = [node for node in extra if isinstance(node.value, dict)]
    required = any(step in (node.value.get("required") or ()) for node in _all_of(schemas))
    return SchemaPlace(children, not children and not described, required)


def _own_children(node: Node, step: str, any_step: bool) -> Iterator[Node]:
    """The schemas that a schema itself gives a member or item, or all of them."""
    properties = node.get("properties")
    if any_step:
        yield from (child for _, child in properties.items())
    elif (child := properties.get(step)).value is not None:
        yield child
    if any_step or step.isdigit():
        items = node.get("items")
        if isinstance(items.value, dict):
            yield items
        yield from node.get("prefixItems").elements()


def _describes(node: Node) -> bool:
    """Whether a schema restricts which members or items exist."""
    value = node.value
    closed = value.get("additionalProperties") is False
    scalar = value.get("type") in ("string", "integer", "number", "boolean", "null")
    described = any(key in value for key in ("properties", "items", "prefixItems", "enum", "const"))
    return closed or scalar or described


def _parts(schemas: Iterable[Node]) -> list[Node]:
    """These schemas and all branches of their combinations, each once; only mappings."""
    return [*_reachable(schemas, _COMBINED)]


def _all_of(schemas: Iterable[Node]) -> list[Node]:
    """If there is one schema, it and its `allOf`: every value must match all of these."""
    nodes = list(schemas)
    return [*_reachable(nodes, ("allOf",))] if len(nodes) == 1 else []


def _reachable(schemas: Iterable[Node], keys: Sequence[str]) -> Iterator[Node]:
    queue = deque(node.resolved() for node in schemas)
    parts: dict[int, Node] = {}
    while queue and len(parts) < _MAX_PLACES:
        node = queue.popleft()
        if isinstance(node.value, dict) and id(node.value) not in parts:
            parts[id(node.value)] = node
            yield node
            queue += (branch for key in keys for branch in node.get(key).elements())


def without_references(value: Any, references: list[str]) -> Any:
    """A JSON value without its references, which it adds to `references`."""
    if isinstance(value, list):
        return [without_references(each, references) for each in value]
    if not isinstance(value, dict):
        return value
    references += (value[key] for key in REFERENCES if isinstance(value.get(key), str))
    return {
        name: without_references(each, references)
        for name, each in value.items()
        if not (name in REFERENCES and isinstance(each, str))
    }

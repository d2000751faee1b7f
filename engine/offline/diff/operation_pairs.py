"""Pairs of operations from two documents, and the parts of them that are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.offline.diff.flat_schema import Part
from engine.plan.route import Route
from engine.source.problem import place_of
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.document.path_items import declared_parameters
from engine.spec.operation import Operation
from engine.values.media_types import essence

T = TypeVar("T")


class Pair(NamedTuple):
    """An operation served on both sides, with its nodes in the old and new document, and its
    routes."""

    name: str
    before: Operation
    after: Operation
    old: Node
    new: Node
    routes: tuple[Route, Route]

    @property
    def is_validated(self) -> bool:
        """Whether both sides refuse requests that do not match the document."""
        return all(route.validate != "off" for route in self.routes)

    @property
    def names_only(self) -> bool:
        """Whether both sides refuse members of bodies without a name in the document."""
        return all(route.unknown_fields == "reject" for route in self.routes)


def pairs(old: Side, new: Side) -> Iterator[Pair]:
    """The operations served on both sides, in the order of the new routes."""
    for name, route in new.routes.items():
        was = old.routes.get(name)
        if was is not None:
            before, after = was.operation, route.operation
            nodes = _node(old, before), _node(new, after)
            yield Pair(name, before, after, *nodes, (was, route))


def _node(side: Side, operation: Operation) -> Node:
    return side.plan_result.specifications[operation.spec].node(operation)


def breaking(pair: Pair, kind: str, node: Node | None, message: str) -> Difference:
    """A change that breaks callers, at a `node` of the new document, by default the operation."""
    return difference(pair, Effect.BREAKING, kind, node, message)


def difference(pair: Pair, level: Effect, kind: str, node: Node | None, message: str) -> Difference:
    """A change at a `node` of the new document, by default the operation."""
    place = of_operation(pair.after) if node is None else place_of(node.source, node.path)
    return Difference(level, kind, place, (pair.name,), message)


def parameters(node: Node, names: Mapping[str, str] | None = None) -> dict[tuple[str, str], Node]:
    """An operation's parameters by location and name, those of its path included. `names` are other
    names for variables of the path."""
    item = node.library.files[node.uri].value
    above = Node(node.library, node.uri, (), item)
    for step in node.path[:-1]:
        above = above.get(str(step))
    result = {}
    for parameter in declared_parameters(above, node):
        if isinstance(parameter.value, dict):
            location, name = parameter.text("in"), parameter.text("name")
            if location == "path":
                name = (names or {}).get(name, name)
            result[location, name.lower() if location == "header" else name] = parameter
    return result


def renamed_variables(pair: Pair) -> dict[str, str]:
    """The new names of the path's variables, by the old ones: only their order counts."""
    old, new = (path_templates.variables(each.path) for each in (pair.before, pair.after))
    return dict(zip(old, new, strict=True)) if len(old) == len(new) else {}


def schema_part(holder: Node) -> Part:
    """The schema of a media type, a parameter or a header; empty if it accepts everything."""
    schema = holder.literal("schema")
    is_schema = schema.value is False or (isinstance(schema.value, dict) and schema.value)
    return (schema,) if is_schema else ()


def media(node: Node) -> dict[str, Part]:
    """The schemas of a request body or response by media type."""
    return {essence(name): schema_part(entry) for name, entry in node.get("content").items()}


def of_type(name: str, table: Mapping[str, T]) -> T | None:
    """The entry of a media type, or of the narrowest range that includes it."""
    kind, _, subtype = name.partition("/")
    names = (name, f"{kind}/*+{subtype.rpartition('+')[2]}", f"{kind}/*", "*/*")
    return next((table[name] for name in names if name in table), None)

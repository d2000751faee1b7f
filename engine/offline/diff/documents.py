"""Pairs of operations from two documents, and the parts of them that are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.source.problem import place_of
from engine.spec.document.node import Node, declared_parameters
from engine.spec.media_types import essence
from engine.spec.operation import Operation


class Pair(NamedTuple):
    """An operation served on both sides, with its nodes in the old and new document."""

    name: str
    before: Operation
    after: Operation
    old: Node
    new: Node


def pairs(old: Side, new: Side) -> Iterator[Pair]:
    """The operations served on both sides, in the order of the new routes."""
    for name, route in new.routes.items():
        old_route = old.routes.get(name)
        if old_route is not None:
            before, after = old_route.operation, route.operation
            yield Pair(name, before, after, _node(old, before), _node(new, after))


def _node(side: Side, operation: Operation) -> Node:
    return side.planned.specifications[operation.spec].node(operation)


def breaking(pair: Pair, kind: str, node: Node | None, words: str) -> Difference:
    """A change that breaks callers, at a `node` of the new document, by default the operation."""
    place = of_operation(pair.after) if node is None else place_of(node.source, node.path)
    return Difference(Effect.BREAKING, kind, place, (pair.name,), words)


def parameters(node: Node) -> dict[tuple[str, str], Node]:
    """An operation's parameters by place and name, those of its path included."""
    item = node.library.files[node.uri].value
    above = Node(node.library, node.uri, (), item)
    for step in node.path[:-1]:
        above = above.get(str(step))
    return {
        (parameter.text("in"), parameter.text("name")): parameter
        for parameter in declared_parameters(above, node)
        if isinstance(parameter.value, dict)
    }


def media(node: Node) -> dict[str, Node]:
    """The schemas of a request body or response by media type."""
    schemas = {}
    for name, media_type in node.get("content").items():
        schema = media_type.get("schema")
        if isinstance(schema.value, dict):
            schemas[essence(name)] = schema
    return schemas

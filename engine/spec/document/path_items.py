"""What path items hold: operations, their methods, parameters and examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.spec.document.node import Node

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The keys of a path that are operations; `query` is of OpenAPI 3.2."""

ADDITIONAL = "additionalOperations"
"""The key of a path, of OpenAPI 3.2, with the operations of other methods by method."""


def operations_of(item: Node) -> Iterator[tuple[tuple[str, ...], Node]]:
    """The operations of a path item, each with its path in it: `("get",)`, or
    `("additionalOperations", "LINK")`."""
    for method in METHODS:
        if item.has(method):
            yield (method,), item.get(method)
    for method, operation in item.get(ADDITIONAL).items():
        if not method.startswith("x-"):
            yield (ADDITIONAL, method), operation


def method_of(at: Sequence[str]) -> str:
    """The HTTP method of an operation by its path in its path item. Methods are case-sensitive;
    those that have a key of their own are upper case."""
    return at[0].upper() if len(at) == 1 else at[-1]


def example_value(example: Node) -> Node:
    """The value of an entry of `examples`: its `dataValue` (OpenAPI 3.2), or its `value`."""
    return example.literal("dataValue" if example.has("dataValue") else "value")


def declared_parameters(item: Node, operation: Node) -> list[Node]:
    """The parameters of a path item, then those of an operation in it, which override them."""
    holders = [holder for holder in (item, operation) if holder.has("parameters")]
    return [p for holder in holders for p in holder.get("parameters").elements()]

"""Which parts of a document describe answers, directly or by reference."""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import METHODS, Library, Node

_EXAMPLES = frozenset({"example", "examples", "default"})


def answered(library: Library) -> frozenset[int]:
    """The ids of all mappings that the `responses` of a library's operations reach."""
    seen: set[int] = set()
    references: set[str] = set()
    waiting = [
        item.get(method).get("responses")
        for _, item in library.document.get("paths").items()
        for method in METHODS
    ]
    while waiting:
        node = waiting.pop()
        stack: list[Any] = [node.value]
        while stack:
            value = stack.pop()
            if isinstance(value, list):
                stack += [below for below in value if isinstance(below, dict | list)]
            elif isinstance(value, dict) and id(value) not in seen:
                seen.add(id(value))
                ref = value.get("$ref")
                if isinstance(ref, str) and (key := f"{node.uri}\0{ref}") not in references:
                    references.add(key)
                    waiting.append(Node(library, node.uri, (), value).resolved())
                stack += [
                    below
                    for name, below in value.items()
                    if isinstance(below, dict | list) and name not in _EXAMPLES
                ]
    return frozenset(seen)

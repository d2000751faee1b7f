"""Schemas that refer to themselves without a member or an item between, as `A: {allOf: [A]}` does.

JSON Schema leaves their meaning open, and validators differ: the one of this program takes the
inner reference for valid, so that `anyOf: [{type: string}, {$ref: itself}]` would accept anything.
The reference is removed as one without a target is, and operations that need it are not served.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.source.problem import Findings, Level
from engine.spec.document.compact_json import has_any_key
from engine.spec.document.node import UNUSABLE_NAME, Breach, Library, Node, target_of
from engine.spec.document.references import references
from engine.spec.schema_keywords import (
    REFERENCES,
    SAME_VALUE,
    SAME_VALUE_LISTS,
    SAME_VALUE_MAPPINGS,
)

_ANCHORS = ("$dynamicAnchor", "$anchor")
_ANCHOR_KEYS = tuple(f'"{keyword}":'.encode() for keyword in _ANCHORS)

Anchors = dict[tuple[FilePath, str], list[Node]]


class _Link(NamedTuple):
    """A schema that applies to the same value as another one; `keyword` is the reference that leads
    to it, "" without one."""

    schema: Node
    keyword: str = ""


class _Step(NamedTuple):
    """A schema of the path that is being walked: the links that were not followed yet, and the
    keyword that leads to the next schema of the path."""

    schema: Node
    links: Iterator[_Link]
    keyword: list[str]


def remove_self_references(library: Library, findings: Findings) -> None:
    """Remove each reference by which a schema applies to the same value again, with a warning and a
    breach of the library."""
    anchors = _anchors(library)
    complete: set[int] = set()
    for uri, file in library.files.items():
        root = Node(library, uri, (), file.value)
        for start in list(references(root, REFERENCES)):
            _walk(start, anchors, complete, findings)


def _walk(start: Node, anchors: Anchors, complete: set[int], findings: Findings) -> None:
    """Follow all links from a schema, depth first and without recursion: chains can be long."""
    path = [_Step(start, _links(start, anchors), [""])] if id(start.value) not in complete else []
    open_schemas = {id(start.value): 0}
    while path:
        step = path[-1]
        link = next(step.links, None)
        if link is None:
            path.pop()
            open_schemas.pop(id(step.schema.value), None)
            complete.add(id(step.schema.value))
            continue
        key = id(link.schema.value)
        step.keyword[0] = link.keyword
        if key in open_schemas:
            _remove([step for step in path[open_schemas[key] :] if step.keyword[0]], findings)
        elif key not in complete and isinstance(link.schema.value, dict):
            open_schemas[key] = len(path)
            path.append(_Step(link.schema, _links(link.schema, anchors), [""]))


def _remove(cycle: list[_Step], findings: Findings) -> None:
    """Remove the last reference of a cycle, unless it was removed already."""
    if not cycle or cycle[-1].keyword[0] not in cycle[-1].schema.value:
        return
    schema, keyword = cycle[-1].schema, cycle[-1].keyword[0]
    ref = schema.value.pop(keyword)
    message = f"by '{ref}' the schema refers to itself: it would be applied to one value for ever"
    hint = "remove it; only below 'properties' or 'items' may a schema refer to itself"
    at = (*schema.path, keyword)
    findings.note(schema.source, at, Level.WARNING, "MW213", message, hint)
    schema.library.breaches.append(Breach(schema.uri, schema.path, findings.unsorted[-1]))


def _links(schema: Node, anchors: Anchors) -> Iterator[_Link]:
    """The schemas that a schema applies to the value that it is applied to itself."""
    value = schema.value
    for keyword in REFERENCES:
        if isinstance(ref := value.get(keyword), str):
            yield from (_Link(target, keyword) for target in _targets(schema, ref, anchors))
            if schema.library.is_30:
                return  # which ignores what is beside a reference
    for keyword in SAME_VALUE_LISTS:
        if isinstance(branches := value.get(keyword), list):
            holder = schema.step(keyword)
            yield from (_Link(holder.step(index)) for index in range(len(branches)))
    for keyword in SAME_VALUE:
        if isinstance(value.get(keyword), dict):
            yield _Link(schema.step(keyword))
    for keyword in SAME_VALUE_MAPPINGS:
        if isinstance(below := value.get(keyword), dict):
            holder = schema.step(keyword)
            yield from (_Link(holder.step(name)) for name in below)


def _targets(schema: Node, ref: str, anchors: Anchors) -> list[Node]:
    """The targets of a reference: several for a name that several schemas have."""
    try:
        uri, fragment = target_of(ref, schema.uri)
        if fragment and not fragment.startswith("/"):
            return anchors.get((uri, fragment), [])
        return [schema.library.at(uri, fragment)]
    except (KeyError, *UNUSABLE_NAME):
        return []


def _anchors(library: Library) -> Anchors:
    """The schemas with a name, by their file and the name."""
    named: Anchors = defaultdict(list)
    for uri, file in library.files.items():
        if not has_any_key(file.value, _ANCHOR_KEYS):
            continue
        for node in references(Node(library, uri, (), file.value), _ANCHORS):
            for keyword in _ANCHORS:
                name: Any = node.value.get(keyword)
                if isinstance(name, str):
                    named[uri, name].append(node)
    return named

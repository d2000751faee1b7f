"""Schemas that refer to themselves without a member or an item between, as `A: {allOf: [A]}` does.

JSON Schema leaves their meaning open, and validators differ: the one of this program takes the
inner reference for valid, so that `anyOf: [{type: string}, {$ref: itself}]` would accept anything.
The reference adds nothing, and is removed: a branch of `anyOf` or `oneOf` with nothing else in it
accepts nothing, as long as another branch is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import NamedTuple

from engine.source.problem import Findings, Level
from engine.spec.document.node import Library, Node
from engine.spec.document.references.reference_walk import all_references
from engine.spec.document.schema_keywords import (
    ANNOTATIONS,
    NAMING,
    REFERENCES,
    SAME_VALUE,
    SAME_VALUE_LISTS,
    SAME_VALUE_MAPPINGS,
)
from engine.values.trees import Json

_LINKING = frozenset({*REFERENCES, *SAME_VALUE, *SAME_VALUE_LISTS, *SAME_VALUE_MAPPINGS})
_NOTHING: Json = {"not": {}}


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


def remove_self_references(library: Library, findings: Findings) -> set[tuple[FilePath, str]]:
    """Remove each reference by which a schema applies to the same value again, with a warning.
    Returns the files and texts of all references."""
    complete: set[int] = set()
    starts = list(all_references(library, REFERENCES))
    refs = {(start.uri, start.ref) for start in starts}
    with library.unchanged():
        for start in starts:
            _walk(start, complete, findings)
    return {(uri, ref) for uri, ref in refs if ref is not None}


def _walk(start: Node, complete: set[int], findings: Findings) -> None:
    """Follow all links from a schema, depth first and without recursion: chains can be long."""
    path = [_Step(start, _links(start), [""])] if id(start.value) not in complete else []
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
            path.append(_Step(link.schema, _links(link.schema), [""]))


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
    _close_branch(schema)
    schema.library.targets = {}


def _close_branch(schema: Node) -> None:
    """Let a branch that had only the reference accept nothing; without another branch, remove the
    keyword. The same for the other keywords that apply the schema to the same value."""
    *holder_path, step = schema.path or ("",)
    if schema.value.keys() - ANNOTATIONS or not holder_path or holder_path[-1] in NAMING:
        return
    holder = Node(schema.library, schema.uri, (), schema.library.files[schema.uri].value)
    for each in holder_path[:-1] if isinstance(step, int) else holder_path:
        holder = holder.step(each)
    if step in SAME_VALUE:
        del holder.value[step]
    elif holder_path and holder_path[-1] in ("anyOf", "oneOf"):
        branches = holder.value[holder_path[-1]]
        others = [branch for branch in branches if branch is not schema.value]
        if any(branch != _NOTHING for branch in others):
            schema.value["not"] = {}
        else:
            del holder.value[holder_path[-1]]


def _links(schema: Node) -> Iterator[_Link]:
    """The schemas that a schema applies to the value that it is applied to itself."""
    value = schema.value
    if _LINKING.isdisjoint(value):
        return
    for keyword in REFERENCES:
        if isinstance(ref := value.get(keyword), str):
            if (target := _target(schema, ref)) is not None:
                yield _Link(target, keyword)
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


def _target(schema: Node, ref: str) -> Node | None:
    try:
        return schema.library.target(schema.uri, ref)
    except KeyError:
        return None

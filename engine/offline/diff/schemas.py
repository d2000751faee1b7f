"""Differences of two schemas that break callers: new refusals, and properties missing in responses.

Both schemas are walked in parallel, with references resolved. Each pair is visited once, and depth
and number are bounded, because schemas may be recursive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engine.offline.diff.compare import listed
from engine.offline.diff.flat_schema import BOUNDS, Shape, shape_of
from engine.spec.document.node import Node

_MAX_DEPTH = 40
_MAX_PAIRS = 50_000


class SchemaChange(NamedTuple):
    """A difference of two schemas: its kind, its place and a sentence."""

    kind: str
    node: Node
    words: str


@dataclass(slots=True)
class Walk:
    """One comparison of two documents: of responses, or of requests."""

    of_responses: bool
    visited: set[tuple[Any, ...]] = field(default_factory=set)

    def compare(
        self, old: Node, new: Node, where: str, depth: int = 0, *, types: bool = True
    ) -> Iterator[SchemaChange]:
        """The changes from `old` to `new` that break callers; `where` is their name in sentences.
        With `types=False` the types are not compared: one side is a branch of a union.
        """
        old, new = old.resolved(), new.resolved()
        key = (old.uri, old.path, new.uri, new.path)
        if depth > _MAX_DEPTH or key in self.visited or len(self.visited) > _MAX_PAIRS:
            return
        self.visited.add(key)
        where = _name(new) or where
        before, after = shape_of(old), shape_of(new)
        if not types:
            before.types = after.types = None
        if self.of_responses:
            yield from _responses(before, after, where)
        else:
            yield from _requests(before, after, where)
        for name, below in before.properties.items():
            partner = after.properties.get(name)
            if partner is None and not self.of_responses:
                partner = after.further  # it describes a property that is not named any more
            if partner is not None:
                at = f"{where}.{name}" if where else name
                yield from self.compare(below, partner, at, depth + 1)
        if before.items is not None and after.items is not None:
            yield from self.compare(before.items, after.items, f"{where}[]", depth + 1)
        if before.further is not None and after.further is not None:
            yield from self.compare(before.further, after.further, f"{where}.*", depth + 1)
        yield from self._unions(before, after, where, depth)

    def _unions(self, old: Shape, new: Shape, where: str, depth: int) -> Iterator[SchemaChange]:
        """Compare corresponding branches of two unions; requests may have lost a branch."""
        if not old.unions and not new.unions:
            return
        before, after = _branches(old), _branches(new)
        if not before or not after:
            return
        new_branches = {key: node for key, node in after.items() if key not in before}
        for key, node in before.items():
            partner = after.get(key)
            if partner is None and len(before) == len(after) and new_branches:
                partner = new_branches.pop(next(iter(new_branches)))
            if partner is not None:
                both = bool(old.unions) == bool(new.unions)
                yield from self.compare(node, partner, where, depth + 1, types=both)
            elif not self.of_responses and old.unions:
                words = f"'{where}' can no longer be {_branch_name(key)}"
                yield SchemaChange("union-branch-removed", new.node, words)
            elif not self.of_responses and (new.types is None or key in new.types):
                words = f"'{where}' must match one of several schemas now"
                yield SchemaChange("constraint-changed", new.node, words)


def _requests(old: Shape, new: Shape, where: str) -> Iterator[SchemaChange]:
    """The changes by which requests are newly refused."""
    quoted = f"'{where}'"
    for name in sorted(new.required - old.required):
        if not _read_only(new, name):
            at = f"{where}.{name}" if where else name
            yield SchemaChange("field-required", new.node, f"'{at}' is required now")
    if new.closed and not old.closed:
        words = f"{quoted} accepts only the properties that it names (additionalProperties: false)"
        yield SchemaChange("object-closed", new.node, words)
    if new.closed:
        for name in [name for name in old.properties if name not in new.properties]:
            yield SchemaChange("field-removed", new.node, f"'{where}.{name}' may no longer be sent")
    if new.types is not None:
        removed_types = sorted((old.types - new.types) if old.types is not None else ())
        if removed_types or old.types is None:
            before = f"no longer {listed(removed_types)}" if removed_types else "was any type"
            words = f"{quoted} must be {listed(sorted(new.types))}, {before}"
            yield SchemaChange("type-narrowed", new.node, words)
    yield from _enum(old, new, quoted)
    yield from _bounds(old, new, quoted)


def _enum(old: Shape, new: Shape, quoted: str) -> Iterator[SchemaChange]:
    if new.enum is None:
        return
    if old.enum is None:
        values = listed([str(value) for value in new.enum])
        yield SchemaChange("enum-closed", new.node, f"{quoted} must be one of {values} now")
        return
    allowed = [_exact(value) for value in new.enum]
    removed_values = [str(value) for value in old.enum if _exact(value) not in allowed]
    if removed_values:
        yield SchemaChange(
            "enum-value-removed", new.node, f"{quoted} may no longer be {listed(removed_values)}"
        )


def _exact(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _bounds(old: Shape, new: Shape, quoted: str) -> Iterator[SchemaChange]:
    for key, sign in BOUNDS.items():
        was, now = old.bounds.get(key), new.bounds.get(key)
        if now is not None and (was is None or (now - was) * sign > 0):
            before = "was unbounded" if was is None else f"was {was}"
            yield SchemaChange("bound-narrowed", new.node, f"{quoted}: {key} is {now}, {before}")
    for key, value in new.unanalysed.items():
        if key not in old.unanalysed or old.unanalysed[key] != value:
            change = "is new" if key not in old.unanalysed else "has changed"
            yield SchemaChange("constraint-changed", new.node, f"{quoted}: {key} {change}")
    for key, was, now in (("items", old.items, new.items), ("*", old.further, new.further)):
        if was is None and now is not None and now.value:
            words = f"{quoted}: its items ({key}) must match a schema now"
            yield SchemaChange("constraint-changed", new.node, words)
    if new.pattern and new.pattern != old.pattern:
        yield SchemaChange("pattern-changed", new.node, f"{quoted} must match {new.pattern} now")


def _responses(old: Shape, new: Shape, where: str) -> Iterator[SchemaChange]:
    """The changes by which responses lack a property, or have it with another type."""
    for name in old.properties:
        at = f"{where}.{name}" if where else name
        if name not in new.properties:
            yield SchemaChange(
                "response-property-removed", new.node, f"'{at}' is no longer in the response"
            )
        elif name in old.required and name not in new.required:
            yield SchemaChange("response-property-optional", new.node, f"'{at}' may be missing now")
    if old.types is not None and new.types is not None:
        gained = sorted(new.types - old.types)
        if gained:
            words = f"'{where}' may be {listed(gained)} now"
            yield SchemaChange("response-type-widened", new.node, words)


def _branches(shape: Shape) -> dict[str, Node]:
    """The branches of a union by a name that does not depend on their order; without a union, the
    schema by each of its types."""
    if not shape.unions:
        kinds = (shape.types or frozenset({"anything"})) - {"null"}
        kinds -= {"integer"} if "number" in kinds else frozenset()
        return dict.fromkeys(sorted(kinds), shape.node)
    branches: dict[str, Node] = {}
    for index, branch in enumerate(shape.unions):
        value = branch.value if isinstance(branch.value, dict) else {}
        key = _name(branch) or _tag(value) or str(value.get("title") or value.get("type") or index)
        if key in ("null", "['null']"):
            continue
        branches[key if key not in branches else f"{key} {index}"] = branch
    return branches


def _tag(value: dict[str, Any]) -> str:
    """The tag of a branch: a property with a constant, `type: text`."""
    properties = value.get("properties")
    for name, below in properties.items() if isinstance(properties, dict) else ():
        if isinstance(below, dict):
            values = [below["const"]] if "const" in below else below.get("enum")
            if isinstance(values, list) and len(values) == 1:
                return f"{name}={values[0]}"
    return ""


def _branch_name(key: str) -> str:
    return f"'{key}'" if not key.isdigit() else "one of its former alternatives"


def _name(node: Node) -> str:
    """The name of a schema under `components`, or `definitions` of Swagger 2.0."""
    path: Sequence[str | int] = node.path
    if len(path) == 2 and path[0] == "definitions":
        return str(path[1])
    return str(path[2]) if len(path) == 3 and path[:2] == ("components", "schemas") else ""


def _read_only(shape: Shape, name: str) -> bool:
    below = shape.properties.get(name)
    return (
        below is not None
        and isinstance(below.value, dict)
        and (below.value.get("readOnly") is True)
    )

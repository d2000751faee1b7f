"""Compares two schemas: values that requests may have no longer, or may have now, and values that
are new or missing in responses.

Both schemas are walked in parallel, with references resolved. Each pair is visited once, and depth
and number are bounded, because schemas may be recursive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from engine.offline.diff.compared_keywords import target_of
from engine.offline.diff.flat_schema import Part, Shape, followed, joined, key_of, shape_of
from engine.offline.diff.schema_constraints import constraints
from engine.offline.diff.schema_sentences import RESPONSES, STRICTER, WEAKER, member, quoted
from engine.offline.diff.schema_unions import Branches, branch_name, component_name
from engine.spec.document.node import Node

_MAX_DEPTH = 40
_MAX_PAIRS = 50_000


class SchemaChange(NamedTuple):
    """A difference of two schemas: its kind, its place in the new one and a sentence. `is_weaker`:
    requests are newly accepted; else callers may fail."""

    kind: str
    node: Node
    message: str
    is_weaker: bool = False


@dataclass(slots=True)
class Walk:
    """One comparison of two documents: of responses, or of requests. `names_only`: routes refuse
    members of bodies that the document does not name."""

    of_responses: bool
    names_only: bool = False
    visited: set[tuple[Any, ...]] = field(default_factory=set)
    shapes: dict[tuple[Any, ...], Shape] = field(default_factory=dict)
    results: dict[tuple[Any, ...], list[SchemaChange]] = field(default_factory=dict)

    def compare(self, old: Part, new: Part, where: str, depth: int = 0) -> Iterator[SchemaChange]:
        """The changes from `old` to `new`, which both have a schema; `where` is their name in
        sentences."""
        old, new = followed(old), followed(new)
        key = (key_of(old), key_of(new))
        if depth > _MAX_DEPTH or key in self.visited or len(self.visited) > _MAX_PAIRS:
            return
        self.visited.add(key)
        where = (component_name(new[0]) if len(new) == 1 else "") or where
        before, after = self._shape(old), self._shape(new)
        if before.unions and not after.unions:
            after = self._united(new, after, before)
        elif after.unions and not before.unions:
            before = self._united(old, before, after)
        if bool(before.unions) != bool(after.unions):
            before, after = self._branch_for(before, after), self._branch_for(after, before)
        yield from self._constraints(before, after, where)
        yield from self._properties(before, after, where, depth)
        yield from self._items(before, after, where, depth)
        yield from self._subschemas(before, after, where, depth)
        yield from self._unions(before, after, where, depth)

    def compare_any(self, old: Part, new: Part, where: str, node: Node) -> list[SchemaChange]:
        """As `compare`, of parts that may be empty; `node` is the place of one that is. Operations
        with the same parts have the same changes."""
        key = (key_of(followed(old)), key_of(followed(new)), where)
        if not (old and new):
            return [*self._subschema(old, new, where, "schema", node, -1)]
        if key not in self.results:
            self.results[key] = [*self.compare(old, new, where)]
        return self.results[key]

    def _shape(self, part: Part, *, keeps_unions: bool = False) -> Shape:
        key = (key_of(part), keeps_unions)
        if key not in self.shapes:
            shape = shape_of(part, keeps_unions=keeps_unions)
            if self.names_only and shape.properties and not (shape.further or shape.patterns):
                shape = replace(shape, closed=not shape.unions)
            self.shapes[key] = shape
        return self.shapes[key]

    def _united(self, part: Part, shape: Shape, other: Shape) -> Shape:
        """The view with a union of a single schema, if the other one has a union."""
        united = self._shape(part, keeps_unions=True)
        return united if len(united.unions) == len(other.unions) else shape

    def _branch_for(self, shape: Shape, other: Shape) -> Shape:
        """A union as the one branch that takes the types of a schema without one."""
        if len(shape.unions) != 1 or other.types is None:
            return shape
        shapes = [self._shape((branch,)) for branch in shape.unions[0][1]]
        matches = [each for each in shapes if each.types is None or each.types & other.types]
        if len(matches) != 1:
            return shape
        return joined(replace(shape, unions=[]), replace(matches[0], types=None))

    def _constraints(self, old: Shape, new: Shape, where: str) -> Iterator[SchemaChange]:
        if self.of_responses:
            yield from _missing(old, new, where)
            for each in constraints(new, old):
                if each.fact in RESPONSES:
                    wording = RESPONSES[each.fact]
                    yield SchemaChange(wording.kind, new.node, wording.sentence(where, each))
            return
        for table, pair in ((STRICTER, (old, new)), (WEAKER, (new, old))):
            for each in constraints(*pair):
                if each.name and self._is_hidden(pair[1], each.name):
                    continue
                kind, sentence = table[each.fact].kind, table[each.fact].sentence(where, each)
                yield SchemaChange(kind, new.node, sentence, table is WEAKER)

    def _is_hidden(self, shape: Shape, name: str) -> bool:
        """Whether a property is read-only: requests need not have it."""
        targets = (target_of(node) for node in shape.properties.get(name, ()))
        return any(
            isinstance(value, dict) and value.get("readOnly") is True
            for target, beside in targets
            for value in (target.value, beside)
        )

    def _properties(self, old: Shape, new: Shape, where: str, depth: int) -> Iterator[SchemaChange]:
        for name in dict.fromkeys([*old.properties, *new.properties]):
            at = member(where, name)
            was, now = old.properties.get(name, ()), new.properties.get(name, ())
            if was and now:
                yield from self.compare(was, now, at, depth + 1)
            elif self.of_responses:
                continue
            elif was and new.further:
                yield from self.compare(was, new.further, at, depth + 1)
            elif now and old.further:
                yield from self.compare(old.further, now, at, depth + 1)
            elif was and self._is_unchecked(was, old, new, name):
                message = f"'{at}' is no longer in the document: it may be anything"
                yield SchemaChange("field-unchecked", new.node, message, is_weaker=True)

    def _is_unchecked(self, was: Part, old: Shape, new: Shape, name: str) -> bool:
        """Whether a property that had a schema has none now: it has not moved to all branches for
        objects of a union."""
        if new.closed or self._shape(was).is_trivial:
            return False
        was_in_branches = any(name in shape.properties for shape in self._branches(old))
        for _, part in new.unions:
            branches = [self._shape((branch,)) for branch in part]
            objects = [each for each in branches if each.types is None or "object" in each.types]
            if all(
                each.closed or (name in each.properties and not was_in_branches) for each in objects
            ):
                return False
        return True

    def _branches(self, shape: Shape) -> Iterator[Shape]:
        """The branches of all unions."""
        return (self._shape((branch,)) for _, part in shape.unions for branch in part)

    def _items(self, old: Shape, new: Shape, where: str, depth: int) -> Iterator[SchemaChange]:
        for index in range(max(len(old.prefix), len(new.prefix))):
            was, now = (
                shape.prefix[index] if index < len(shape.prefix) else shape.items
                for shape in (old, new)
            )
            yield from self._subschema(
                was, now, f"{where}[{index}]", "prefixItems", new.node, depth
            )

    def _subschemas(self, old: Shape, new: Shape, where: str, depth: int) -> Iterator[SchemaChange]:
        names = {"items": f"{where}[]", "additionalProperties": f"{where}.*"}
        for key in dict.fromkeys([*old.subschemas, *new.subschemas]):
            was, now = old.subschemas.get(key, ()), new.subschemas.get(key, ())
            if key == "additionalProperties" and (old.closed or new.closed):
                continue
            at = names.get(key, f"{where} ({key})")
            yield from self._subschema(was, now, at, key, new.node, depth)
        for pattern in dict.fromkeys([*old.patterns, *new.patterns]):
            was, now = old.patterns.get(pattern, ()), new.patterns.get(pattern, ())
            at = f"{where}./{pattern}/"
            yield from self._subschema(was, now, at, "patternProperties", new.node, depth)

    def _subschema(
        self, was: Part, now: Part, where: str, keyword: str, node: Node, depth: int
    ) -> Iterator[SchemaChange]:
        if was and now:
            yield from self.compare(was, now, where, depth + 1)
        elif keyword == "contains":
            return  # its bounds, `minContains` and `maxContains`, are compared
        elif now and not self.of_responses:
            message = f"{quoted(where)} must match a schema now ({keyword})"
            yield SchemaChange("constraint-changed", node, message)
        elif was:
            message = f"{quoted(where)} no longer has to match a schema ({keyword})"
            yield self._loosened(node, message)

    def _loosened(self, node: Node, message: str) -> SchemaChange:
        if self.of_responses:
            return SchemaChange("response-constraint-loosened", node, message)
        return SchemaChange("constraint-loosened", node, message, is_weaker=True)

    def _unions(self, old: Shape, new: Shape, where: str, depth: int) -> Iterator[SchemaChange]:
        both = min(len(old.unions), len(new.unions))
        for was, now in zip(old.unions, new.unions, strict=False):
            yield from self._union(was, now, new.node, where, depth)
        if len(new.unions) > both and not self.of_responses:
            message = f"{quoted(where)} must match one of several schemas now"
            yield SchemaChange("constraint-changed", new.node, message)
        if len(old.unions) > both:
            message = f"{quoted(where)} no longer has to match one of several schemas"
            yield self._loosened(new.node, message)

    def _union(
        self, was: tuple[str, Part], now: tuple[str, Part], node: Node, where: str, depth: int
    ) -> Iterator[SchemaChange]:
        """The changes of the branches that correspond, and of those that were added or removed."""
        branches = Branches(was[1], now[1])
        for before, after in branches.pairs:
            yield from self.compare((before,), (after,), where, depth + 1)
        for key in branches.removed if not self.of_responses else ():
            message = f"{quoted(where)} can no longer be {branch_name(key)}"
            yield SchemaChange("union-branch-removed", node, message)
        for key in branches.added:
            kind = "response-union-branch-added" if self.of_responses else "union-branch-added"
            message = f"{quoted(where)} may also be {branch_name(key)}"
            yield SchemaChange(kind, node, message, is_weaker=not self.of_responses)
        if was[0] != now[0] and not self.of_responses:
            message = f"{quoted(where)}: {now[0]} in place of {was[0]}"
            if now[0] == "oneOf":
                yield SchemaChange("constraint-changed", node, message)
            else:
                yield self._loosened(node, message)


def _missing(old: Shape, new: Shape, where: str) -> Iterator[SchemaChange]:
    """The properties that responses lack, or may lack."""
    for name, part in old.properties.items():
        at = member(where, name)
        if any(_is_write_only(node) for node in (*part, *new.properties.get(name, ()))):
            continue
        if name not in new.properties:
            message = f"'{at}' is no longer in the response"
            yield SchemaChange("response-property-removed", new.node, message)
        elif name in old.required and name not in new.required:
            yield SchemaChange("response-property-optional", new.node, f"'{at}' may be missing now")


def _is_write_only(node: Node) -> bool:
    value = target_of(node)[0].value
    return isinstance(value, dict) and value.get("writeOnly") is True

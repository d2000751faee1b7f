"""Repairs of breaches of the standard in vendors' documents, where the meaning is clear. One file
is one kind of breach in schemas: it defines `REPAIR`, a SchemaRepair. `apply` runs all of
them, and repairs bodies that repeat a variable of the path. Each repair is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum

from msgspec import Struct

from engine.source.problem import Findings, Level, Path
from engine.spec.document.negations import remove_negation
from engine.spec.document.node import Library, Node
from engine.spec.document.references.reference_walk import is_extension
from engine.spec.document.schema_keywords import LITERAL, NAMING
from engine.values.trees import Json

_NESTED = (dict, list)


class Schema(Struct, frozen=True):
    """A mapping that may be a schema, to be repaired in place. For a property, `name` is its name
    and `parent` the schema that has it."""

    node: Node
    parent: Json | None
    name: str
    is_30: bool
    findings: Findings

    @property
    def value(self) -> Json:
        value: Json = self.node.value
        return value

    def warn(self, key: str, code: str, message: str, hint: str = "") -> None:
        """Note a repair at a keyword of the schema."""
        self.warn_at((key,), code, message, hint)

    def warn_at(self, path: Path, code: str, message: str, hint: str = "") -> None:
        """Note a repair at a path in the schema."""
        at = (*self.node.path, *path)
        source = self.node.library.source(self.node.uri, at)
        self.findings.note(source, at, Level.WARNING, code, message, hint, key=True)

    def remove_negation(self) -> None:
        """Remove the `not` around the schema, which loses a keyword."""
        remove_negation(self.node.library, self.node.uri, self.node.path)


class Turn(IntEnum):
    """When a repair runs: those that correct the types of keywords first, those that move keywords
    to another schema last."""

    TYPES = 0
    KEYWORDS = 1
    MOVES = 2


class SchemaRepair(Struct, frozen=True):
    """A repair of schemas that have one of the `keys`."""

    keys: frozenset[str]
    repair: Callable[[Schema], None]
    turn: Turn = Turn.KEYWORDS


def schemas(
    library: Library, findings: Findings, keys: frozenset[str] | None = None
) -> Iterator[Schema]:
    """Every mapping of every file that may be a schema, or those with one of these keys: no
    mappings of names, no literal values, no extensions."""
    is_30 = library.is_30
    for uri, file in library.files.items():
        stack: list[tuple[Path, object, bool, Json | None, str]]
        stack = [((), file.value, False, None, "")]
        while stack:
            path, value, names, parent, name = stack.pop()
            if isinstance(value, list):
                stack += [
                    ((*path, i), item, False, None, "")
                    for i, item in enumerate(value)
                    if isinstance(item, _NESTED)
                ]
                continue
            if not isinstance(value, dict):
                continue
            if not names and path and (keys is None or not keys.isdisjoint(value)):
                node = Node(library, uri, path, value)
                yield Schema(node, parent, name, is_30, findings)
            nested = [item for item in value.items() if isinstance(item[1], _NESTED)]
            for key, child in nested:
                if (not names and key in LITERAL) or (key[:2] == "x-" and is_extension(path)):
                    continue
                naming = not names and key in NAMING
                if names and path[-1] == "properties":
                    stack.append(((*path, key), child, False, parent, key))
                else:
                    stack.append(((*path, key), child, naming, value if naming else None, ""))

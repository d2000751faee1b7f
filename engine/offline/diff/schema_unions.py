"""Corresponding branches of two unions (`oneOf`, `anyOf`), by names that do not depend on their
order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.offline.diff.compared_keywords import target_of
from engine.offline.diff.flat_schema import Part
from engine.spec.document.node import Node
from engine.values.trees import Json


class Branches:
    """The branches of an old and a new union: `pairs` correspond to each other, `removed` and
    `added` are the names of the others."""

    def __init__(self, old: Part, new: Part) -> None:
        before, after = _named(old), _named(new)
        self.pairs = [(node, after[name]) for name, node in before.items() if name in after]
        self.removed = [name for name in before if name not in after]
        self.added = [name for name in after if name not in before]
        if len(before) == len(after):  # renamed branches, in their order
            renamed = zip(self.removed, self.added, strict=True)
            self.pairs += [(before[name], after[other]) for name, other in renamed]
            self.removed, self.added = [], []


def _named(branches: Part) -> dict[str, Node]:
    """The branches by name, without the one of null, which is a type."""
    named: dict[str, Node] = {}
    for index, branch in enumerate(branches):
        name = next(_names(branch), str(index))
        if name not in ("null", "['null']"):
            named[name if name not in named else f"{name} {index}"] = branch
    return named


def _names(branch: Node) -> Iterator[str]:
    """The names that a branch may have: of its component, its tag, its title, its type."""
    target, _ = target_of(branch)
    value = target.value if isinstance(target.value, dict) else {}
    names = (component_name(target), _tag(value), value.get("title"), value.get("type"))
    yield from (str(name) for name in names if name)


def _tag(value: Json) -> str:
    """The tag of a branch: a property with a constant, `type: text`."""
    properties = value.get("properties")
    for name, below in properties.items() if isinstance(properties, dict) else ():
        if isinstance(below, dict):
            values = [below["const"]] if "const" in below else below.get("enum")
            if isinstance(values, list) and len(values) == 1:
                return f"{name}={values[0]}"
    return ""


def branch_name(name: str) -> str:
    """A branch in a sentence; one without a name has a number."""
    return f"'{name}'" if not name.isdigit() else "one of several alternatives"


def component_name(node: Node) -> str:
    """The name of a schema under `components`, or `definitions` of Swagger 2.0."""
    path: Sequence[str | int] = node.path
    if len(path) == 2 and path[0] == "definitions":
        return str(path[1])
    return str(path[2]) if len(path) == 3 and path[:2] == ("components", "schemas") else ""

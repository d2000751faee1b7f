"""Discriminators choose a branch: what `oneOf` and `anyOf` accept of a value whose discriminating
property names a branch is what this branch accepts.

Each branch gets a guard, a schema that refuses values of which the property names another branch.
So the branch that is named decides alone, and its errors are the only ones about the value. A value
that names no branch is judged by the `defaultMapping` of OpenAPI 3.2. Without one it is refused if
the document maps every branch, and else judged by all branches: many mappings are incomplete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.spec.document.node import Node
from engine.spec.document.schema_types import Resolve, branches, properties_of
from engine.values.trees import Json

GUARD = "x-modelway-named-by-discriminator"
"""Marks the schemas that guards refuse, for messages."""

KEYWORDS = ("oneOf", "anyOf")
_MAX_NAMES = 40_000
"""Names in the guards of one schema, at most: a guard has the names of all other branches."""


def guard(schema: Node, copy: Json, *, refuses_unknown: bool) -> None:
    """Put guards around the branches of the plain copy of a schema with a discriminator, and
    refuse values that name none of those that are all mapped if it `refuses_unknown` ones."""
    tags = tags_of(schema)
    if tags is None or sum(map(len, tags.values())) * len(tags) > _MAX_NAMES:
        return
    for keyword in KEYWORDS:
        alternatives = copy.get(keyword)
        if not isinstance(alternatives, list):
            continue
        name = schema.value["discriminator"]["propertyName"]
        default = _default_branch(schema, keyword)
        copy[keyword] = [
            _guarded(branch, name, _others(tags, (keyword, index)))
            if default is None or index == default
            else _guarded_by_own(branch, name, sorted(tags.get((keyword, index), ())))
            for index, branch in enumerate(alternatives)
        ]
        if refuses_unknown and default is None and (known := _known_names(schema, keyword, tags)):
            known_name = {"properties": {name: {"enum": known}}}
            copy["allOf"] = [*copy.get("allOf", ()), known_name]


def _known_names(
    schema: Node, keyword: str, tags: dict[tuple[str, int], set[str]]
) -> list[str] | None:
    """The values that name a branch, if the mapping names every one; else None, as where a branch
    has branches that its own discriminator names."""
    discriminator = schema.value["discriminator"]
    mapping, known = discriminator.get("mapping"), set[str]()
    for index, branch in enumerate(schema.value[keyword]):
        names = tags.get((keyword, index), set())
        if not (isinstance(mapping, dict) and names & {str(tag) for tag in mapping}):
            return None
        if any(map(_has_named_branches, branches(branch, schema.follow))):
            return None
        known |= names | (values_of(branch, discriminator["propertyName"], schema.follow) or set())
    return sorted(known)


def _has_named_branches(schema: Mapping[str, Any]) -> bool:
    return "discriminator" in schema and any(keyword in schema for keyword in KEYWORDS)


def default_of(schema: Node) -> tuple[Any, ...] | None:
    """The place of the schema that judges the values that name none; None without one."""
    target = schema.value["discriminator"].get("defaultMapping")
    if not isinstance(target, str) or not schema.library.is_32:
        return None
    return place_of_mapped(schema, target)


def _default_branch(schema: Node, keyword: str) -> int | None:
    """The index of the default among the branches of a keyword; None if it is none of them."""
    place = default_of(schema)
    for index, branch in enumerate(schema.value[keyword] if place is not None else ()):
        ref = reference_of(branch)
        if ref is not None and place_of_mapped(schema, ref) == place:
            return index
    return None


def _others(tags: dict[tuple[str, int], set[str]], branch: tuple[str, int]) -> list[str]:
    """The tags that name another branch of the same keyword, and not this one."""
    names = (n for other, values in tags.items() if other[0] == branch[0] for n in values)
    return sorted(set(names) - tags.get(branch, set()))


def _guarded(branch: object, name: str, others: list[str]) -> object:
    if not others:
        return branch
    names_another = {"type": "object", "required": [name], "properties": {name: {"enum": others}}}
    return {"allOf": [{"not": {**names_another, GUARD: True}}, branch]}


def _guarded_by_own(branch: object, name: str, own: list[str]) -> object:
    """A branch that accepts only objects that name it: the others are for the default."""
    names_it = {"required": [name], "properties": {name: {"enum": own}}}
    return {"allOf": [{"not": {"type": "object", "not": names_it, GUARD: True}}, branch]}


def tags_of(schema: Node) -> dict[tuple[str, int], set[str]] | None:
    """The values of the discriminating property that name each branch, by the keyword and index of
    the branch; None without a discriminator or if no branch is named.

    A value that the branch itself refuses for the property does not name it: vendors' mappings
    have such mistakes.
    """
    discriminator = schema.value.get("discriminator")
    if not isinstance(discriminator, dict):
        return None
    name, mapping = discriminator.get("propertyName"), discriminator.get("mapping")
    if not isinstance(name, str):
        return None
    mapped: dict[tuple[object, ...], set[str]] = {}
    for tag, target in mapping.items() if isinstance(mapping, dict) else ():
        if isinstance(target, str) and (place := place_of_mapped(schema, target)) is not None:
            mapped.setdefault(place, set()).add(str(tag))
    tags: dict[tuple[str, int], set[str]] = {}
    for keyword in KEYWORDS:
        listed = schema.value.get(keyword)
        for index, branch in enumerate(listed if isinstance(listed, list) else ()):
            if (ref := reference_of(branch)) is None:
                continue
            place = place_of_mapped(schema, ref)
            names = {ref.rpartition("/")[2]} | mapped.get(place or (), set())
            values = values_of(branch, name, schema.follow)
            tags[keyword, index] = {n for n in names if values is None or n in values}
    return tags if any(tags.values()) else None


def reference_of(branch: object) -> str | None:
    """The reference of a branch, alone or beside other keywords; None for another schema."""
    if not isinstance(branch, dict):
        return None
    ref = branch.get("$ref")
    if ref is None and isinstance(branch.get("allOf"), list) and len(branch["allOf"]) == 1:
        return reference_of(branch["allOf"][0])
    return ref if isinstance(ref, str) else None


def values_of(branch: object, name: str, resolve: Resolve) -> set[Any] | None:
    """The texts that a branch accepts for a property; None if it names none."""
    declared = properties_of(branch, resolve).get(name)
    values: set[Any] | None = None
    for node in branches(declared, resolve) if declared is not None else ():
        listed = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(listed, list):
            texts = {value for value in listed if isinstance(value, str)}
            values = texts if values is None else values | texts
    return values


def place_of_mapped(schema: Node, target: str) -> tuple[Any, ...] | None:
    """The place of the schema that a reference or the name of a component leads to."""
    for ref in (target, f"#/components/schemas/{target}"):
        try:
            node = Node(schema.library, schema.uri, (), {"$ref": ref}).resolved()
        except KeyError:
            continue
        return (node.uri, node.path)
    return None

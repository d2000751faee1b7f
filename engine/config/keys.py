"""The keys of gateway.yaml as its schema describes them. The annotation `x-modelway` has the unit,
whether a value is a path or a secret, and which change weakens protection;
`docs/internals/config.md` lists its members.

Includes, secrets, defaults, conversions, `diff` and the reference of keys all read this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct, field

from engine.config.json_schema import builtin_schema, schema
from engine.source.problem import Path
from engine.values import units
from engine.values.trees import Json, Section, with_changes

ANNOTATION = "x-modelway"
ENTRY = "*"
"""The name of the key for each entry of a list, or each name of a mapping."""

_UNITS = {"duration": units.seconds, "size": units.size}


class Key(Struct, frozen=True):
    """A key, and its children by name. `path` has `*` for names and indexes.

    `schema` is the schema of its values, `notes` its annotation. `members` are the members of its
    annotation and of those of all descendants.
    """

    path: Path
    schema: Section
    notes: Section
    children: Mapping[str, Key] = field(default_factory=dict)
    members: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The path as a text: `upstreams.*.tls.ca`."""
        return ".".join(map(str, self.path))

    def child(self, step: str | int) -> Key | None:
        """The key of an entry of the value; None for a name that the schema does not know."""
        return self.children.get(step, self.children.get(ENTRY))  # type: ignore[arg-type]

    def all(self) -> Iterator[Key]:
        """This key and all its descendants."""
        yield self
        for key in self.children.values():
            yield from key.all()


@cache
def root() -> Key:
    """The description of gateway.yaml, without the options of policies."""
    document = schema()
    return _builtin_root() if document is builtin_schema() else describe(document)


@cache
def _builtin_root() -> Key:
    """As `root`, without the credentials that distributions bring."""
    return describe(builtin_schema())


def free() -> None:
    """Free the descriptions."""
    root.cache_clear()
    _builtin_root.cache_clear()


def describe(root_schema: Mapping[str, object]) -> Key:
    """The keys that a schema describes."""
    return _key(root_schema, (), root_schema)


def find(name: str) -> Key:
    """The key of a path such as `upstreams.*.tls.ca`, which no distribution brings. Raises KeyError
    for an unknown path."""
    key = _builtin_root()
    for step in name.split(".") if name else ():
        key = key.children[step]
    return key


@cache
def default(name: str) -> Any:
    """The default of a key, converted. Raises KeyError for a key without one."""
    key = find(name)
    return convert(key.schema["default"], key)


@cache
def defaults(name: str) -> Section:
    """The defaults of the children of a key, by name, converted."""
    children = find(name).children
    return {step: default(key.name) for step, key in children.items() if "default" in key.schema}


def fill(value: Section, name: str) -> Json:
    """A converted mapping, with the defaults of the keys that it lacks. `name` is its key."""
    return {**defaults(name), **value}


def convert(value: object, key: Key | None) -> Any:
    """A valid value with durations in seconds, sizes in bytes, and whole floats (`1e3`) as int:
    JSON Schema accepts them as integers, Python code may not. Parts that stay equal are not
    copied."""
    if isinstance(value, str):
        unit = key.notes.get("unit") if key is not None else None
        return _UNITS[unit](value) if unit in _UNITS else value
    if isinstance(value, (dict, list)):
        return with_changes(value, lambda step, entry: convert(entry, key and key.child(step)))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def values(
    value: Any, key: Key, member: str, at: Path = ()
) -> Iterator[tuple[Path, Any, Key | None]]:
    """The values of `key` and its descendants whose annotation has this member, and those of
    unknown names beside them (with None as key), each with its path. `value` may be of any type."""
    results: list[tuple[Path, object, Key | None]] = []
    _collect(value, key, member, at, results)
    return iter(results)


def _collect(
    value: object, key: Key, member: str, at: Path, results: list[tuple[Path, object, Key | None]]
) -> None:
    """Append to `results` what `values` yields."""
    if member in key.notes:
        results.append((at, value, key))
    if isinstance(value, dict):
        entries: Any = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    else:
        return
    for step, entry in entries:
        child = key.child(step)
        if child is None:
            results.append(((*at, step), entry, None))
        elif member in child.members:
            _collect(entry, child, member, (*at, step), results)


def _key(schema: Mapping[str, object], at: Path, root_schema: Mapping[str, object]) -> Key:
    branches = _branches(schema, root_schema)
    children: dict[str, Key] = {}
    for branch in branches:
        for name, child in branch.get("properties", {}).items():
            children.setdefault(name, _key(child, (*at, name), root_schema))
        for keyword in ("additionalProperties", "items"):
            if isinstance(branch.get(keyword), dict):
                children.setdefault(ENTRY, _key(branch[keyword], (*at, ENTRY), root_schema))
    notes: Json = {}
    for branch in reversed(branches):
        notes |= branch.get(ANNOTATION, {})
    members = frozenset(notes).union(*(key.members for key in children.values()))
    return Key(at, branches[0], notes, children, members)


def _branches(schema: Section, root_schema: Mapping[str, object]) -> list[Section]:
    """A schema with its reference resolved, followed by the branches of its `anyOf`."""
    resolved = dict(schema)
    if "$ref" in resolved:
        target: Any = root_schema
        for step in str(resolved.pop("$ref")).split("/")[1:]:
            target = target[step]
        notes = {**target.get(ANNOTATION, {}), **resolved.get(ANNOTATION, {})}
        resolved = {**target, **resolved, ANNOTATION: notes}
    branches: list[Section] = [resolved]
    for branch in resolved.get("anyOf", []):
        branches += _branches(branch, root_schema)
    return branches

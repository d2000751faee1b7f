"""What an unknown key of gateway.yaml probably means: a key beside it that is misspelt, the name of
another program for one, or a key that belongs elsewhere in the file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from engine.config import keys
from engine.config.json_schema import schema as root_schema
from engine.config.keys import ANNOTATION, ENTRY, Key
from engine.source import files
from engine.source.problem import Path
from engine.source.suggestion import did_you_mean, distance, invisible, near, without_invisible
from engine.values.trees import Section

_POLICIES = "policies"
_MAX_PLACES = 2


class Meaning(NamedTuple):
    """What an unknown key means: the hint, and the key in its place in the same mapping, "" if it
    is not known."""

    hint: str
    key: str = ""


def meaning_of(key: str, value: Any, known: Section, path: Path) -> Meaning:
    """The meaning of a key that is not one of `known`, in the mapping at `path` of the config.
    `known` are the schemas of the keys there."""
    if invisible(key) or key.strip() != key:
        return _with_blank(key, known)
    name, colon, text = key.partition(":")
    if colon and name in known and value is None:
        return Meaning(f"write '{name}: {text}', with a space behind the colon", name)
    if list(known) == ["set", "add", "remove"] and near(key, known) is None:
        return Meaning(f"write {{set: {{{key}: ...}}}}")
    if name := _synonym(key, known):
        return Meaning(_form(key, name, known[name]), name)
    closest = near(key, known)
    if closest is not None and distance(key.casefold(), closest) <= 1:
        return Meaning(f"did you mean '{closest}'?", closest)
    parents = _parents(key, path)
    here = _generic(path)
    inner = [
        parent for parent in parents if parent[: len(here)] == here and len(parent) > len(here)
    ]
    if inner:
        return Meaning(_belongs(key, inner, here))
    longer = [name for name in known if key.startswith(f"{name}_") or key.endswith(f"_{name}")]
    if closest is None and len(longer) == 1:
        closest = longer[0]
    if closest is not None:
        return Meaning(f"did you mean '{closest}'?", closest)
    other = key if parents else near(key, _places())
    if parents or (other and distance(key.casefold(), other) <= 1):
        return Meaning(_belongs(str(other), parents or _parents(str(other), path), ()))
    return Meaning(did_you_mean(key, known))


def is_policy(name: str) -> bool:
    """Whether there is a policy of this name."""
    return name in _policies()


def elsewhere(key: str) -> str:
    """A hint with the place to which a key of gateway.yaml belongs; "" for an unknown key."""
    parents = _parents(key, ())
    return _belongs(key, parents, ()) if parents else ""


def _with_blank(key: str, known: Mapping[str, object]) -> Meaning:
    name = without_invisible(key)
    char = invisible(key) or "a blank at its beginning or end"
    first, colon, text = name.partition(":")
    if name in known or (colon and first in known):
        spelling = f"{first}: {text.strip()}" if colon else name
        return Meaning(f"it has {char}; write '{spelling}'", first)
    return Meaning(f"it has {char}; remove it")


def _synonym(key: str, known: Section) -> str:
    """The key that means what `key` means in other programs; "" for none."""
    plain = _plain(key)
    for name, schema in known.items():
        if plain == _plain(name) or key in schema.get(ANNOTATION, {}).get("synonyms", ()):
            return name
    return ""


def _plain(key: str) -> str:
    """A key without the differences of styles: maxBody, max-body and max_body are one."""
    return key.replace("_", "").replace("-", "").casefold()


def _form(key: str, name: str, schema: Section) -> str:
    entry = _resolved(schema.get("items", {})).get("properties", {})
    if key in entry:
        return f"write {name}: [{{{key}: ...}}]"
    return f"did you mean '{name}'?"


def _resolved(schema: Mapping[str, object]) -> Section:
    """A schema, or the definition that it refers to."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    definition: Mapping[str, object] = root_schema()["$defs"][name] if name else schema
    return definition


@cache
def _places() -> Mapping[str, tuple[Path, ...]]:
    """The mappings that have a key, by the key: paths with `*` for names and indexes."""
    places: dict[str, list[Path]] = {}
    for key in keys.root().all():
        if key.path and key.path[-1] != ENTRY:
            places.setdefault(str(key.path[-1]), []).append(key.path[:-1])
    for policy in _policies():
        places.setdefault(policy, []).append((_POLICIES,))
    return {key: tuple(paths) for key, paths in places.items()}


@cache
def _policies() -> tuple[str, ...]:
    """The names of the policies, which the schema for editors has."""
    schema = json.loads(files.SCHEMA.read_text("utf-8"))
    return tuple(schema["$defs"][_POLICIES]["items"]["properties"])


def _parents(key: str, path: Path) -> list[Path]:
    """The mappings that have a key, the outermost first. Requests of `tests` count only
    within tests."""
    in_tests = path[:1] == ("tests",)
    parents = [p for p in _places().get(key, ()) if in_tests or p[:1] != ("tests",)]
    return sorted(parents, key=len)


def _generic(path: Path) -> Path:
    """A path with `*` for names and indexes."""
    key: Key | None = keys.root()
    for step in path:
        key = key.child(step) if key is not None else None
    return key.path if key is not None else path


def _belongs(key: str, parents: Iterable[Path], here: Path) -> str:
    """The sentence that names the mappings to which a key belongs; `here` is the path of the one
    that it is in."""
    names = list(dict.fromkeys(_place(parent[len(here) :]) for parent in parents))
    return f"'{key}' belongs {' or '.join(names[:_MAX_PLACES])}"


def _place(path: Path) -> str:
    """The words for a mapping: `under 'server'`, `in an entry of 'routes'`."""
    if not path:
        return "at the top of the file"
    if path == (_POLICIES,):
        return f"in the list '{_POLICIES}'"
    names = [str(step) for step in path]
    if names[-1] == ENTRY and len(names) > 1:
        return f"in an entry of '{names[-2]}'"
    if ENTRY not in names:
        return f"under '{'.'.join(names)}'"
    outer = names[names.index(ENTRY) - 1] if names.index(ENTRY) else ""
    return f"under '{names[-1]}'" + (f" of an entry of '{outer}'" if outer else "")

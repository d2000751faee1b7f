"""Misspelt keys of the standard in a document: their values have no effect.

Documents may have keys of other tools, so not every unknown key is a mistake. It is one if it
resembles an absent key of the standard: an error for a key that decides what is served or refused,
a warning for a bound of a value (`minItems`), as vendors' documents have such mistakes. Keys that
only explain, like `description`, are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import distance
from engine.spec.document.node import Library
from engine.spec.document.objects import BOUNDS, OBJECTS, SWAGGER_OBJECTS, ObjectKind

_SHORT = 3


def check(library: Library, findings: Findings) -> None:
    """Note every misspelt key of a document, and of the files it refers to."""
    for uri, path, key, correct_key in _misspelt(library):
        source = library.source(uri, (*path, key))
        message = f"unknown key '{key}': it has no effect"
        hint = f"did you mean '{correct_key}'? (an extension begins with x-)"
        level = Level.WARNING if correct_key in BOUNDS.split() else Level.ERROR
        findings.note(source, (*path, key), level, "MW234", message, hint, key=True)


def _misspelt(library: Library) -> Iterator[tuple[Any, Path, str, str]]:
    """The file, path, key and correct key of each mistake; each object is visited once."""
    stack: list[tuple[Any, Path, Any, str]]
    stack = [(library.root, (), library.files[library.root].value, "document")]
    visited: set[tuple[Any, Path, str]] = set()
    objects = SWAGGER_OBJECTS if library.is_20 else OBJECTS
    while stack:
        uri, path, value, kind = stack.pop()
        if kind[-1] in "*]":
            entries = value.items() if isinstance(value, dict) else enumerate(value or ())
            if isinstance(value, dict) == (kind[-1] == "*"):
                inner = kind.rstrip("*[]")
                stack += [
                    (uri, (*path, name), entry, inner)
                    for name, entry in entries
                    if not (inner != "schema" and str(name).startswith("x-"))
                ]
            continue
        if not isinstance(value, dict) or (uri, path, kind) in visited:
            continue
        visited.add((uri, path, kind))
        object_kind = objects[kind]
        if isinstance(value.get("$ref"), str):
            stack += _target(library, uri, value["$ref"], kind)
        for key, member in value.items():
            form = object_kind.forms.get(key, "")
            if form.rstrip("*[]") in objects and isinstance(member, dict | list):
                stack.append((uri, (*path, key), member, form))
            elif correct_key := _correct_key(key, object_kind, value):
                yield uri, path, key, correct_key


def _target(library: Library, uri: Any, ref: str, kind: str) -> list[tuple[Any, Path, Any, str]]:
    """The target of a reference to an object of this kind; none if it does not exist."""
    try:
        node = library.target(uri, ref)
    except KeyError:
        return []  # `references.py` has noted it
    return [(node.uri, node.path, node.value, kind)]


def _correct_key(key: str, object_kind: ObjectKind, value: Mapping[str, Any]) -> str:
    """The absent key that this one probably misspells; "" if there is none."""
    if key in object_kind.keys or key in object_kind.other_keys or key.startswith("x-"):
        return ""
    plain = _plain(key)
    near = [
        (distance(plain, _plain(name)), name)
        for name in sorted(object_kind.keys | object_kind.other_keys)
        if name not in value and _near(plain, _plain(name))
    ]
    match = min(near, default=(0, ""))[1]
    return match if match in object_kind.keys else ""


def _plain(key: str) -> str:
    return re.sub(r"[-_ ]", "", key).casefold()


def _near(word: str, correct_word: str) -> bool:
    """Whether two words differ by one typing mistake, long ones by two."""
    if abs(len(word) - len(correct_word)) > 2:
        return False
    if len(correct_word) <= _SHORT:
        return (
            word[:1] == correct_word[:1]
            and len(correct_word) == _SHORT
            and distance(word, correct_word) <= 1
        )
    return distance(word, correct_word) <= (1 if len(correct_word) <= 5 else 2)

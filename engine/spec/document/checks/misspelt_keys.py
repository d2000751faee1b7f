"""Misspelt keys of the standard in a document: their values have no effect.

Documents may have keys of other tools, so not every unknown key is a mistake. It is one if it
resembles an absent key of the standard: a warning, as vendors' documents have such mistakes, and an
error for `paths`, without which nothing is served. Keys that only explain, like `description`, are
not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from engine.source.problem import Findings, Level
from engine.source.suggestion import distance
from engine.spec.document.node import Library, Node
from engine.spec.document.object_walk import objects
from engine.spec.document.objects import OBJECTS, SWAGGER_OBJECTS, ObjectKind

_SHORT = 3


def check(library: Library, findings: Findings) -> None:
    """Note every misspelt key of a document, and of the files it refers to."""
    with library.unchanged():
        misspelt = list(_misspelt(library))
    for node, kind, key, correct_key in misspelt:
        at = (*node.path, key)
        message = f"unknown key '{key}': it has no effect"
        hint = f"did you mean '{correct_key}'? (an extension begins with x-)"
        level = Level.ERROR if (kind, correct_key) == ("document", "paths") else Level.WARNING
        source = node.library.source(node.uri, at)
        findings.note(source, at, level, "MW234", message, hint, key=True)


def _misspelt(library: Library) -> Iterator[tuple[Node, str, str, str]]:
    """The object, its kind, the key and the correct key of each mistake."""
    kinds = SWAGGER_OBJECTS if library.is_20 else OBJECTS
    keys = {name: kind.keys | kind.other_keys for name, kind in kinds.items()}
    for node, kind, _, _ in objects(library, kinds):
        object_kind, known_keys = kinds[kind], keys[kind]
        if known_keys.issuperset(node.value):
            continue
        for key, member in node.value.items():
            if key in known_keys:
                continue
            form = object_kind.forms.get(key, "")
            if form.rstrip("*[]") in kinds and isinstance(member, dict | list):
                continue
            if correct_key := _correct_key(key, object_kind, node.value):
                yield node, kind, key, correct_key


def _correct_key(key: str, object_kind: ObjectKind, value: Mapping[str, object]) -> str:
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

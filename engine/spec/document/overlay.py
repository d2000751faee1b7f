"""OpenAPI Overlay 1.0: files that correct a document without editing it.

Actions apply in order: `target` is a JSONPath (RFC 9535) of objects or arrays; `update` is merged
into each object and appended to each array, `remove: true` removes each. Problems of a value from
an overlay name the overlay.
"""

from __future__ import annotations

import copy
import re
from importlib import import_module
from pathlib import Path as FilePath
from typing import Any

from engine.source.problem import Findings, Level, Path, path_order
from engine.source.reader import SourceDocument, read_file
from engine.source.suggestion import did_you_mean, near
from engine.spec.document.node import Library
from engine.values.trees import Json, value_at

_VERBS = ("update", "remove")
_STEP = re.compile(r"\[['\"]([^'\"\]]+)['\"]\]|\.([\w-]+)")
"""A step by a name in a JSONPath: `['/items']` or `.get`."""


def apply(library: Library, file: FilePath, display_name: str, findings: Findings) -> None:
    """Apply an overlay to the library's document. Problems go to findings."""
    marked = read_file(file, display_name)
    library.overlays[file.resolve()] = marked
    findings.add_source(marked)
    if marked.problems:
        return
    overlay = marked.value
    if not isinstance(overlay, dict) or not str(overlay.get("overlay", "")).startswith("1."):
        message, hint = "not an OpenAPI Overlay 1.0 file", "it begins with `overlay: 1.0.0`"
        findings.error(marked, (), "MW231", message, hint)
        return
    actions = overlay.get("actions")
    if not isinstance(actions, list):
        findings.error(marked, ("actions",), "MW231", "'actions' must be a list")
        return
    for index, action in enumerate(actions):
        at: Path = ("actions", index)
        if not isinstance(action, dict) or not isinstance(action.get("target"), str):
            findings.error(marked, at, "MW231", "an action needs a 'target', a JSONPath")
            continue
        _Action(library, marked, at, findings).do(action)


def _near_step(target: str, value: object) -> str:
    """The hint for the first step of a JSONPath that the document does not have; "" if it is not
    known."""
    for match in _STEP.finditer(target):
        name = match[1] or match[2]
        if not isinstance(value, dict):
            return ""
        if name not in value:
            closest = near(name, value)
            return f"did you mean '{closest}' for '{name}'?" if closest else ""
        value = value[name]
    return ""


class _Action:
    """One action of an overlay."""

    def __init__(
        self, library: Library, marked: SourceDocument, at: Path, findings: Findings
    ) -> None:
        self._library = library
        self._marked = marked
        self._at = at
        self._findings = findings
        self._document = library.files[library.root].value
        self._grafts = library.grafts.setdefault(library.root, {})

    def do(self, action: Json) -> None:
        at = (*self._at, "target")
        paths = self._find(action["target"])
        if paths is None:
            return
        if not paths:
            message = f"'{action['target']}' matches nothing in the document"
            hint = _near_step(action["target"], self._document)
            self._findings.note(self._marked, at, Level.WARNING, "MW232", message, hint)
        if action.get("remove") is True:
            for path in sorted(paths, key=path_order, reverse=True):
                self._remove(path)
        elif "update" in action:
            for path in paths:
                self._update(path, action["update"])
        else:
            message = "an action needs 'update' or 'remove: true'"
            unknown = [key for key in action if near(key, _VERBS) and key not in _VERBS]
            at = (*self._at, *unknown[:1])
            hint = did_you_mean(unknown[0], _VERBS) if unknown else ""
            self._findings.error(self._marked, at, "MW231", message, hint, key=bool(unknown))

    def _find(self, target: str) -> list[Path] | None:
        jsonpath = import_module("jsonpath")  # slow to import, and few documents need it
        try:
            return [match.parts for match in jsonpath.compile(target).finditer(self._document)]
        except jsonpath.JSONPathError as error:
            message = f"'{target}' is not a JSONPath: {str(error).splitlines()[0]}"
            hint = "$.paths['/items'].get, for example"
            self._findings.error(self._marked, (*self._at, "target"), "MW231", message, hint)
            return None

    def _remove(self, path: Path) -> None:
        if not path:
            message = "the complete document cannot be removed"
            self._findings.error(self._marked, (*self._at, "target"), "MW231", message)
            return
        parent = self._value(path[:-1])
        last = path[-1]
        if isinstance(parent, dict):
            del parent[last]
            return
        assert isinstance(last, int)
        root = self._library.root
        sources = [self._library.origin(root, (*path[:-1], i)) for i in range(len(parent))]
        del parent[last], sources[last]
        for index, source in enumerate(sources):
            self._grafts[(*path[:-1], index)] = source

    def _update(self, path: Path, update: object) -> None:
        at_overlay = (*self._at, "update")
        value = self._value(path)
        if isinstance(value, dict) and isinstance(update, dict):
            self._merge(value, update, path, at_overlay)
        elif isinstance(value, list):
            self._append(value, [update], path, at_overlay, same_place=True)
        else:
            message = "an 'update' merges into an object or is appended to an array"
            self._findings.error(self._marked, at_overlay, "MW231", message)

    def _merge(self, value: Json, update: Json, at_document: Path, at_overlay: Path) -> None:
        for key, item in update.items():
            old = value.get(key)
            if isinstance(old, dict) and isinstance(item, dict):
                self._merge(old, item, (*at_document, key), (*at_overlay, key))
            elif isinstance(old, list) and isinstance(item, list):
                self._append(old, item, (*at_document, key), (*at_overlay, key))
            else:
                value[key] = copy.deepcopy(item)
                self._graft((*at_document, key), (*at_overlay, key))

    def _append(
        self,
        value: list[object],
        items: list[object],
        at_document: Path,
        at_overlay: Path,
        *,
        same_place: bool = False,
    ) -> None:
        for index, item in enumerate(items):
            self._graft(
                (*at_document, len(value)), at_overlay if same_place else (*at_overlay, index)
            )
            value.append(copy.deepcopy(item))

    def _graft(self, at_document: Path, at_overlay: Path) -> None:
        for path in [path for path in self._grafts if path[: len(at_document)] == at_document]:
            del self._grafts[path]
        self._grafts[at_document] = (self._marked, at_overlay)

    def _value(self, path: Path) -> Any:
        return value_at(self._document, path)

"""Overlays, `-c gateway.yaml -c prod.yaml`: later files change the values of earlier ones.

Mappings are merged at any depth; scalars and lists are replaced. A mapping tagged `!replace` is not
merged, `!remove` removes a key, `!append` and `!prepend` add to a list. A key without a value
leaves a mapping or list unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.config.include import join_includes, rebase
from engine.config.joined_document import (
    APPEND,
    PREPEND,
    REMOVE,
    REPLACE,
    TAGS,
    JoinedDocument,
    Origin,
)
from engine.config.literal_secrets import add_masked
from engine.config.references import expander
from engine.source.problem import Findings, Level, Problem, place_of
from engine.source.reader import SourceDocument, read_file
from engine.source.suggestion import did_you_mean

_UNSET = "MW005"


class _Part(NamedTuple):
    """A value and its origin."""

    value: Any
    origin: Origin

    def entries(self) -> Iterator[tuple[Any, _Part]]:
        """The entries of a mapping or list, by name or index."""
        steps = range(len(self.value)) if isinstance(self.value, list) else self.value
        for step in steps:
            yield step, _Part(self.value[step], self.origin.child(step))


def apply_overlays(
    base: JoinedDocument,
    files: Sequence[FilePath],
    folder: FilePath,
    environ: Mapping[str, str],
    findings: Findings,
) -> bool:
    """Change a document by overlays, in this order; False if one of them could not be read.

    `base.value` is a mapping. Paths in an overlay are relative to its own folder, and to `folder`
    afterwards. Problems of the overlays go to the findings.
    """
    complete = True
    visited = {os.path.realpath(folder / FilePath(base.file).name)}
    for file in files:
        real = os.path.realpath(file)
        if real in visited:
            message, hint = "the file is named twice", "name each file once, the base first"
            problem = Problem(str(file), 0, 0, Level.ERROR, "MW112", message, hint)
            findings.unsorted.append(problem)
            continue
        visited.add(real)
        overlay = read_file(file, str(file), expander(environ, file.absolute().parent), TAGS)
        add_masked(overlay, findings)
        complete = not overlay.problems and complete
        if isinstance(overlay.value, dict):
            joined, has_includes = join_includes(overlay, file.absolute().parent, environ, findings)
            rebase(joined.value, _relative(file.absolute().parent, folder), folder)
            _apply(joined, base, findings)
            complete = has_includes and complete
        elif overlay.value is not None:
            findings.error(overlay, (), "MW103", "an overlay must be a mapping of sections")
            base.files.append(overlay)
    _remove_problems_of_replaced_values(base, findings)
    return complete


def refuse_tags(document: JoinedDocument, findings: Findings) -> None:
    """Note the tags of a document that is not an overlay: it has no earlier file to change."""
    for file in document.files:
        for place, tag in file.tags.items():
            message = f"'{tag}' changes an earlier file, and there is none"
            hint = "use it in an overlay: modelway serve -c gateway.yaml -c overlay.yaml"
            _note(findings, file, place, message, hint)


def _relative(path: FilePath, folder: FilePath) -> str:
    """The path relative to a folder, "" for the folder itself; absolute if `..` would follow a
    symbolic link."""
    relative = os.path.relpath(path, folder)
    if relative == ".":
        return ""
    return relative if os.path.realpath(folder / relative) == os.path.realpath(path) else str(path)


def _apply(overlay: JoinedDocument, base: JoinedDocument, findings: Findings) -> None:
    """Change the base by one overlay."""
    for included in overlay.files[1:]:
        for place, tag in included.tags.items():
            message = f"'{tag}' is not allowed in an included file"
            _note(findings, included, place, message, "write it in the overlay itself")
    entries = {key: value for key, value in overlay.value.items() if key != "include"}
    merge = _Merge(overlay.files[0], findings)
    result = merge.merge(_Part(base.value, base.origin), _Part(entries, overlay.origin))
    base.value, base.origin = result
    base.files += overlay.files
    base.problems += overlay.problems
    base.expansions.update(overlay.expansions)
    for place, tag in overlay.files[0].tags.items():
        if place not in merge.used:
            message = f"'{tag}' has no effect here: no earlier file has this value"
            hint = "tag a key of an earlier file; values inside lists are not merged"
            _note(findings, overlay.files[0], place, message, hint)


class _Merge:
    """The merge of one overlay, with the tags of its file. `used` are the places of the tags that
    had an effect or an error."""

    def __init__(self, document: SourceDocument, findings: Findings) -> None:
        self.document = document
        self.findings = findings
        self.used: set[tuple[int, int]] = set()

    def merge(self, base: _Part, overlay: _Part) -> _Part:
        """The base changed by the overlay, for two values without tags."""
        if isinstance(base.value, dict) and isinstance(overlay.value, dict):
            return self._mapping(base, overlay)
        if overlay.value is None and isinstance(base.value, dict | list):
            return base
        return overlay

    def _mapping(self, base: _Part, overlay: _Part) -> _Part:
        value = dict(base.value)
        origin = Origin(base.origin.document, base.origin.path, dict(base.origin.children))
        for name, entry in overlay.entries():
            result = self._entry(name, base, entry)
            if result is None:
                value.pop(name, None)
                origin.children.pop(name, None)
            else:
                value[name], origin.children[name] = result
        return _Part(value, origin)

    def _entry(self, name: str, base: _Part, overlay: _Part) -> _Part | None:
        """The new value of a key; None to remove it."""
        tag = overlay.origin.tag if overlay.origin.document is self.document else ""
        before = _Part(base.value[name], base.origin.child(name)) if name in base.value else None
        if tag:
            self.used.add(overlay.origin.document.place(overlay.origin.path))
            if before is None:
                self._note_missing_key(name, tag, base, overlay)
                return None if tag == REMOVE else overlay
        if before is None:
            return overlay
        if tag == REMOVE:
            if overlay.value is not None:
                self._error(overlay, f"'{REMOVE}' takes no value", f"write '{name}: {REMOVE}'")
            return None
        if tag in (APPEND, PREPEND):
            return self._extend(name, tag, before, overlay)
        return overlay if tag == REPLACE else self.merge(before, overlay)

    def _extend(self, name: str, tag: str, before: _Part, overlay: _Part) -> _Part:
        if not isinstance(before.value, list) or not isinstance(overlay.value, list):
            where = "here" if isinstance(before.value, list) else f"at {_place(before)}"
            message = f"'{tag}' adds a list to a list; '{name}' is not a list {where}"
            self._error(overlay, message, "")
            return overlay
        parts = (overlay, before) if tag == PREPEND else (before, overlay)
        entries = [entry for part in parts for _, entry in part.entries()]
        children: dict[str | int, Origin] = {i: entry.origin for i, entry in enumerate(entries)}
        origin = Origin(before.origin.document, before.origin.path, children)
        return _Part([entry.value for entry in entries], origin)

    def _note_missing_key(self, name: str, tag: str, base: _Part, overlay: _Part) -> None:
        message = f"'{tag}': no earlier file has '{name}' here"
        otherwise = "remove the line" if tag == REMOVE else "write the value without the tag"
        self._error(overlay, message, did_you_mean(name, base.value, otherwise))

    def _error(self, part: _Part, message: str, hint: str) -> None:
        self.findings.error(part.origin.document, part.origin.path, "MW112", message, hint)


def _place(part: _Part) -> str:
    return str(place_of(part.origin.document, part.origin.path))


def _remove_problems_of_replaced_values(document: JoinedDocument, findings: Findings) -> None:
    """Remove the problems of unset variables in values that an overlay replaced."""
    if not any(problem.code == _UNSET for problem in findings.unsorted):
        return
    places = set(_scalar_places(_Part(document.value, document.origin)))
    for problems in (findings.unsorted, document.problems):
        problems[:] = [
            p for p in problems if p.code != _UNSET or (p.file, p.line, p.column) in places
        ]


def _scalar_places(part: _Part) -> Iterator[tuple[str, int, int]]:
    if isinstance(part.value, dict | list):
        for _, entry in part.entries():
            yield from _scalar_places(entry)
    else:
        yield part.origin.document.file, *part.origin.document.place(part.origin.path)


def _note(
    findings: Findings, file: SourceDocument, place: tuple[int, int], message: str, hint: str
) -> None:
    findings.unsorted.append(Problem(file.file, *place, Level.ERROR, "MW112", message, hint))

"""`-c gateway.yaml -c prod.yaml`: later files change what earlier ones say.

Mappings are merged at any depth; scalars and lists are replaced. A mapping tagged `!replace` is not
merged, `!remove` takes a key out, `!append` and `!prepend` add to a list. Nothing below a key
leaves a mapping or list as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.config.include import join_includes, rebase
from engine.config.joined import APPEND, PREPEND, REMOVE, REPLACE, TAGS, JoinedDocument, Origin
from engine.config.literal_secrets import literals
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


def lay_over(
    base: JoinedDocument,
    files: Sequence[FilePath],
    folder: FilePath,
    environ: Mapping[str, str],
    findings: Findings,
) -> bool:
    """Change a document by overlays, in this order; false if one of them could not be read.

    `base.value` is a mapping. Paths in an overlay are relative to its own folder, and to `folder`
    afterwards. Problems of the overlays go to the findings.
    """
    complete = True
    visited = {os.path.realpath(folder / FilePath(base.file).name)}
    for file in files:
        real = os.path.realpath(file)
        if real in visited:
            hint = "each file stands once, the base first"
            _note_file(findings, str(file), "MW112", "the file is named twice", hint)
            continue
        visited.add(real)
        over = read_file(file, str(file), expander(environ, file.absolute().parent), TAGS)
        findings.add_source(over)
        findings.mask(over.file, [(literal.start, literal.end) for literal in literals(over)])
        complete = not over.problems and complete
        if isinstance(over.value, dict):
            joined, has_all = join_includes(over, file.absolute().parent, environ, findings)
            rebase(joined.value, _between(folder, file.absolute().parent), folder)
            _lay(base, joined, findings)
            complete = has_all and complete
        elif over.value is not None:
            findings.error(over, (), "MW103", "an overlay must be a mapping of sections")
            base.files.append(over)
    _forget_replaced(base, findings)
    return complete


def refuse_tags(document: JoinedDocument, findings: Findings) -> None:
    """Note the tags of a document that is no overlay: there is nothing that they could change."""
    for file in document.files:
        for place, tag in file.tags.items():
            message = f"'{tag}' changes a file before it, and there is none"
            hint = "it belongs in an overlay: modelway serve -c gateway.yaml -c overlay.yaml"
            _note(findings, file, place, message, hint)


def _between(folder: FilePath, other: FilePath) -> str:
    """The path from one folder to another, absolute if a link is in between; "" to itself."""
    path = os.path.relpath(other, folder)
    if path == ".":
        return ""
    return path if os.path.realpath(folder / path) == os.path.realpath(other) else str(other)


def _lay(base: JoinedDocument, over: JoinedDocument, findings: Findings) -> None:
    """Change the base by one overlay."""
    for included in over.files[1:]:
        for place, tag in included.tags.items():
            message = f"'{tag}' may not stand in an included file"
            _note(findings, included, place, message, "write it in the overlay itself")
    entries = {key: value for key, value in over.value.items() if key != "include"}
    merge = _Merge(over.files[0], findings)
    result = merge.merged(_Part(base.value, base.origin), _Part(entries, over.origin))
    base.value, base.origin = result
    base.files += over.files
    base.problems += over.problems
    base.expansions.update(over.expansions)
    for place, tag in over.files[0].tags.items():
        if place not in merge.used:
            message = f"'{tag}' has no effect here: no earlier file has this value"
            hint = "a tag belongs to a key of an earlier file; inside a list nothing is merged"
            _note(findings, over.files[0], place, message, hint)


class _Merge:
    """The merge of one overlay, with the tags of its own file. `used` are the places of those that
    had an effect, or an error of their own."""

    def __init__(self, document: SourceDocument, findings: Findings) -> None:
        self.document = document
        self.findings = findings
        self.used: set[tuple[int, int]] = set()

    def merged(self, base: _Part, over: _Part) -> _Part:
        """The base changed by the overlay, for two values without tags."""
        if isinstance(base.value, dict) and isinstance(over.value, dict):
            return self._mapping(base, over)
        if over.value is None and isinstance(base.value, dict | list):
            return base
        return over

    def _mapping(self, base: _Part, over: _Part) -> _Part:
        value = dict(base.value)
        origin = Origin(base.origin.document, base.origin.path, dict(base.origin.below))
        for name, entry in over.entries():
            result = self._entry(name, base, entry)
            if result is None:
                value.pop(name, None)
                origin.below.pop(name, None)
            else:
                value[name], origin.below[name] = result
        return _Part(value, origin)

    def _entry(self, name: str, base: _Part, over: _Part) -> _Part | None:
        """The new value of a key; None to remove it."""
        tag = over.origin.tag if over.origin.document is self.document else ""
        before = _Part(base.value[name], base.origin.child(name)) if name in base.value else None
        if tag:
            self.used.add(over.origin.document.place(over.origin.path))
            if before is None:
                self._no_such_key(name, tag, base, over)
                return None if tag == REMOVE else over
        if before is None:
            return over
        if tag == REMOVE:
            if over.value is not None:
                self._error(over, f"'{REMOVE}' takes no value", f"write '{name}: {REMOVE}'")
            return None
        if tag in (APPEND, PREPEND):
            return self._extended(name, tag, before, over)
        return over if tag == REPLACE else self.merged(before, over)

    def _extended(self, name: str, tag: str, before: _Part, over: _Part) -> _Part:
        if not isinstance(before.value, list) or not isinstance(over.value, list):
            other = "here" if isinstance(before.value, list) else f"at {_place(before)}"
            self._error(over, f"'{tag}' adds a list to a list; '{name}' is none {other}", "")
            return over
        parts = (over, before) if tag == PREPEND else (before, over)
        entries = [entry for part in parts for _, entry in part.entries()]
        below: dict[str | int, Origin] = {i: entry.origin for i, entry in enumerate(entries)}
        origin = Origin(before.origin.document, before.origin.path, below)
        return _Part([entry.value for entry in entries], origin)

    def _no_such_key(self, name: str, tag: str, base: _Part, over: _Part) -> None:
        message = f"'{tag}' finds no '{name}' in an earlier file"
        otherwise = "take the line out" if tag == REMOVE else "write the value without the tag"
        self._error(over, message, did_you_mean(name, base.value, otherwise))

    def _error(self, part: _Part, message: str, hint: str) -> None:
        self.findings.error(part.origin.document, part.origin.path, "MW112", message, hint)


def _place(part: _Part) -> str:
    return str(place_of(part.origin.document, part.origin.path))


def _forget_replaced(document: JoinedDocument, findings: Findings) -> None:
    """Take out the problems of variables that are not set where an overlay replaced the value."""
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


def _note_file(findings: Findings, file: str, code: str, message: str, hint: str) -> None:
    findings.unsorted.append(Problem(file, 0, 0, Level.ERROR, code, message, hint))


def _note(
    findings: Findings, file: SourceDocument, place: tuple[int, int], message: str, hint: str
) -> None:
    findings.unsorted.append(Problem(file.file, *place, Level.ERROR, "MW112", message, hint))

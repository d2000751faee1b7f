"""`# modelway: ignore MW401 reason` silences the warnings with this code on its line, and
`specs.x.ignore: [MW240]` those about a document: JSON has no comments.

Errors are never silenced. An ignore that silences nothing is itself a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import yaml
from msgspec import Struct

from engine.config.config import Config
from engine.source.nodes import Loader
from engine.source.problem import Level, Problem, place_of
from engine.spec.spec import Specification

_COMMENT = re.compile(r"(?<![^\s])#[ \t]*modelway:[ \t]*ignore\b(?P<rest>[^\r\n]*)")
_CODE = re.compile(r"[\s,]*(?P<code>MW[0-9]{3})\b")


class Ignore(Struct, frozen=True):
    """One code in a comment, with its place."""

    file: str
    line: int
    column: int
    code: str


class DocumentIgnore(Ignore, frozen=True):
    """One code of `specs.x.ignore`, with its place. `documents` are the names of the files of the
    document."""

    documents: frozenset[str]


@dataclass(slots=True)
class Ignores:
    """The ignores of all files; `effective` are those that silenced a warning."""

    entries: dict[Ignore, None] = field(default_factory=dict)
    effective: set[Ignore] = field(default_factory=set)
    empty: list[Problem] = field(default_factory=list)
    _files: set[str] = field(default_factory=set)

    def silence(
        self,
        problems: Iterable[Problem],
        texts: Mapping[str, str],
        of_documents: Iterable[DocumentIgnore] = (),
    ) -> list[Problem]:
        """The problems that are not silenced. `texts` are the files by their names in problems,
        `of_documents` the ignores of the config's documents."""
        for file, text in texts.items():
            if file not in self._files:
                self._files.add(file)
                self._read(file, text)
        by_place: dict[tuple[str, int, str], list[Ignore]] = {}
        for ignore in self.entries:
            by_place.setdefault((ignore.file, ignore.line, ignore.code), []).append(ignore)
        by_document: dict[tuple[str, str], list[Ignore]] = {}
        for of_document in of_documents:
            self.entries[of_document] = None
            for file in of_document.documents:
                by_document.setdefault((file, of_document.code), []).append(of_document)
        remaining = []
        for problem in problems:
            matching = [
                *by_place.get((problem.file, problem.line, problem.code), ()),
                *by_document.get((problem.file, problem.code), ()),
            ]
            if not matching or problem.level is Level.ERROR:
                remaining.append(problem)
            self.effective.update(matching if problem.level is not Level.ERROR else ())
        return remaining

    def unused(self) -> list[Problem]:
        """A warning for each ignore that silenced nothing, and for each without a code."""
        useless = [ignore for ignore in self.entries if ignore not in self.effective]
        return self.empty + [
            Problem(
                ignore.file,
                ignore.line,
                ignore.column,
                Level.WARNING,
                "MW413",
                _useless(ignore),
                "remove it",
            )
            for ignore in useless
        ]

    def _read(self, file: str, text: str) -> None:
        matches = list(_COMMENT.finditer(text)) if "modelway:" in text else []
        quoted = _scalars(text) if matches else []  # slow: it reads the whole YAML again
        for match in matches:
            if any(start <= match.start() < end for start, end in quoted):
                continue
            line, column = _place(text, match.start())
            codes = list(_codes(match["rest"]))
            for at, code in codes:
                offset = match.start("rest") - match.start() + at
                self.entries[Ignore(file, line, column + offset, code)] = None
            if not codes:
                hint = "write the codes, and then why: # modelway: ignore MW401 a test server"
                message = "an ignore without a code silences nothing"
                self.empty.append(
                    Problem(file, line, column, Level.WARNING, "MW414", message, hint)
                )


def _useless(ignore: Ignore) -> str:
    if isinstance(ignore, DocumentIgnore):
        return f"there is no warning {ignore.code} about the document to ignore"
    return f"there is no warning {ignore.code} on this line to ignore"


def of_documents(
    config: Config | None, specifications: Mapping[str, Specification]
) -> Iterator[DocumentIgnore]:
    """The ignores of `specs`. Overlays and files to which a document refers belong to it."""
    for name, spec in config.specs.items() if config is not None else ():
        specification = specifications.get(name)
        if config is None or specification is None:
            continue
        files = {document.file for document in specification.library.documents}
        for index, code in enumerate(spec.ignore):
            place = place_of(config.source, (*spec.at, "ignore", index))
            yield DocumentIgnore(*place, code, frozenset(files))


def _codes(text: str) -> Iterable[tuple[int, str]]:
    """The codes of a comment, each with its offset; the reason follows them."""
    at = 0
    while (match := _CODE.match(text, at)) is not None:
        yield match.start("code"), match["code"]
        at = match.end()


def _place(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def _scalars(text: str) -> list[tuple[int, int]]:
    """The spans of quoted values in the text, in which `#` begins no comment."""
    try:
        tokens = list(yaml.scan(text, Loader=Loader))
    except yaml.YAMLError:
        return []  # the reader reports the syntax error
    quoted = [token for token in tokens if isinstance(token, yaml.ScalarToken) and not token.plain]
    return [(token.start_mark.index, token.end_mark.index) for token in quoted]

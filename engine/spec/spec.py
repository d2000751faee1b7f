"""A document as read: its operations, and those that cannot be served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

import jsonschema_rs

from engine.source.problem import Findings, Level, Problem
from engine.spec.document import misspelt_keys, structure
from engine.spec.document.cache import Entry
from engine.spec.document.load import load
from engine.spec.document.node import (
    METHODS,
    Breach,
    Library,
    Node,
)
from engine.spec.document.removed_parts import breach_of, tainted
from engine.spec.document.repair import mend
from engine.spec.document.repairs import path_keys
from engine.spec.operation import (
    Operation,
    Served,
    compile_operation,
    recompile,
)
from engine.spec.path_templates import shape
from engine.spec.response_schemas import Answers, compile_answers
from engine.spec.schemas import Purpose, Schemas


@dataclass(frozen=True, slots=True)
class Specification:
    """A document as read: its operations, and its files for those who show or mock it.

    `refused` are operations that cannot be served, each with the problem that says why.
    """

    name: str
    operations: Mapping[str, Operation]
    library: Library
    refused: Mapping[str, Problem] = field(default_factory=dict)
    _schemas: dict[Purpose, Schemas] = field(default_factory=dict)
    _kept: tuple[Entry, Sequence[Problem]] | None = None

    def node(self, operation: Operation) -> Node:
        """The operation's own part of the document."""
        node = self.library.document
        for step in operation.at:
            node = node.get(str(step))
        return node

    def reread(self, operation: Operation, *, lenient: bool, named: bool) -> Operation:
        """The operation as a route asks for it: `lenient`, or with the `named` members of bodies.

        Raises ValueError for a schema that cannot be read so.
        """
        schemas = self._read_for(Purpose.LENIENT if lenient else Purpose.REQUEST)
        item = self.library.document.get("paths").get(str(operation.at[1]))
        return recompile(operation, self.node(operation), item, schemas, named=named)

    def answers(self, operation: Operation) -> Answers:
        """What the operation answers. Raises ValueError for a broken schema."""
        return compile_answers(self.node(operation), self._read_for(Purpose.RESPONSE))

    def settle(self) -> None:
        """All was compiled, all places were asked for: keep the document for the next start."""
        self._schemas.clear()  # what was compiled does without them
        if self._kept is not None:
            entry, problems = self._kept
            entry.keep(self.library, problems)

    def _read_for(self, purpose: Purpose) -> Schemas:
        if purpose not in self._schemas:
            self._schemas[purpose] = Schemas(self.library, purpose)
        return self._schemas[purpose]


def read(
    name: str,
    file: FilePath,
    shown: str,
    mounts: Sequence[str],
    findings: Findings,
    overlays: Sequence[tuple[FilePath, str]] = (),
    cache: FilePath | None = None,
) -> Specification | None:
    """Read a document into operations; None when it has errors. All problems go to findings.

    `mounts` are prefixes to serve it under, in place of its server URL's path. What breaks the
    standard and has a clear meaning is mended; what has none takes its operation out. `cache` is a
    folder for what was read of large documents.
    """
    entry = _entry(cache, file, shown, overlays)
    own = Findings()
    library = entry.load(own) if entry is not None else None
    if library is None:
        own = Findings()
        library = _mended(file, shown, own, overlays)
    findings.found += own.found
    findings.texts.update(own.texts)
    if library is None:
        return None
    try:
        schemas = Schemas(library)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        message = f"schemas cannot be read: {error}"
        findings.error(library.document.source, (), "MW204", message)
        return None
    made = _Reader(name, library, schemas, tuple(mounts), findings).read()
    return replace(made, _kept=(entry, own.found)) if entry is not None else made


def _entry(
    cache: FilePath | None, file: FilePath, shown: str, overlays: Sequence[tuple[FilePath, str]]
) -> Entry | None:
    """The place of a document in the cache; None for one that cannot be read, too: whoever reads it
    says why."""
    try:
        return Entry(cache, file, shown, overlays) if cache is not None else None
    except OSError:
        return None


def _mended(
    file: FilePath, shown: str, findings: Findings, overlays: Sequence[tuple[FilePath, str]]
) -> Library | None:
    """The files of a document, mended; None when it has errors."""
    library = load(file, shown, findings, overlays)
    if library is None:
        return None
    misspelt_keys.check(library, findings)
    mend(library, findings)
    structure.check(library, findings)
    return None if findings.errors else library


class _Reader:
    """The operations of a library, one by one."""

    def __init__(
        self,
        name: str,
        library: Library,
        schemas: Schemas,
        mounts: tuple[str, ...],
        findings: Findings,
    ) -> None:
        self._name = name
        self._library = library
        self._schemas = schemas
        self._mounts = mounts
        self._findings = findings
        self._operations: dict[str, Operation] = {}
        self._refused: dict[str, Problem] = {}
        self._taken: dict[tuple[object, ...], str] = {}

    def read(self) -> Specification:
        found = tainted(self._library)
        for key, item in self._library.document.get("paths").items():
            if key.startswith("x-"):
                continue
            address = path_keys.read(key)
            wrong = path_keys.problem(address)
            if wrong is not None:
                self._note((key,), "MW205", f"path '{key}': {wrong}")
            for method in METHODS:
                if not isinstance(item.value, dict) or method not in item.value:
                    continue
                name = self._unique(item, key, method)
                breach = breach_of(found, key, method)
                if wrong is not None:
                    self._refused[name] = self._findings.found[-1]
                elif breach is not None:
                    self._refuse(name, (key, method), breach)
                else:
                    self._read_one(name, (key, method), item, address)
            if wrong is None:
                for words in address.mends:
                    self._note((key,), "MW228", f"path '{key}': {words}")
        self._note_unchecked_ranges()
        known = {Purpose.REQUEST: self._schemas}
        return Specification(self._name, self._operations, self._library, self._refused, known)

    def _read_one(
        self, name: str, at: tuple[str, str], item: Node, address: path_keys.Address
    ) -> None:
        node = item.get(at[1])
        wider = path_keys.widened(address, node, item)
        for words in wider.mends[len(address.mends) :]:
            self._note((at[0],), "MW228", f"path '{at[0]}': {words}")
        place = (at[1], wider.query, shape(wider.template))
        other = self._taken.setdefault(place, name)
        findings = Findings()
        served = Served(self._name, name, at, wider, self._mounts)
        made = None
        path = ("paths", *at)
        source = self._library.source(self._library.root, path)
        try:
            made = compile_operation(served, item, self._schemas, findings)
        except KeyError as error:
            message = f"a reference leads nowhere: there is no {error}"
            findings.error(source, path, "MW202", message, key=True)
        if other != name:
            message = f"'{name}' and '{other}' are both {at[1].upper()} {wider.template}"
            findings.error(source, path, "MW230", message)
        for problem in findings.found:
            if problem.level is Level.ERROR:
                problem = replace(problem, level=Level.WARNING)
                self._refused.setdefault(name, problem)
            self._findings.found.append(problem)
        self._findings.texts.update(findings.texts)
        if name in self._refused:
            self._say_refused(name, at, self._refused[name])
        elif made is not None:
            self._operations[name] = made

    def _unique(self, item: Node, key: str, method: str) -> str:
        """The operation's name: its own, or method and path where another one has that name."""
        name, plain = item.get(method).text("operationId"), f"{method.upper()} {key}"
        if name and (name in self._operations or name in self._refused):
            message = f"operationId '{name}' is used twice"
            first = self._operations.get(name)
            hint = f"it is also {first.method} {first.path}; " if first is not None else ""
            self._note(
                (key, method, "operationId"),
                "MW206",
                message,
                f"{hint}this one is known as '{plain}'",
                key=False,
            )
            return plain
        return name or plain

    def _note_unchecked_ranges(self) -> None:
        """One warning for all bodies of a schema under a media range, which takes more types."""
        found = {name: op.bodies.unchecked_ranges for name, op in self._operations.items()}
        found = {name: ranges for name, ranges in found.items() if ranges}
        if not found:
            return
        first = next(iter(found))
        ranges = " and ".join(f"'{name}'" for name in sorted(set().union(*found.values())))
        more = f" and {len(found) - 1} more operations" if len(found) > 1 else ""
        message = f"{first}{more}: bodies under {ranges} are held to their schema only as JSON, "
        operation = self._operations[first]
        self._note(
            (str(operation.at[1]), str(operation.at[2])),
            "MW241",
            f"{message}forms and text; other types are not checked",
            "name the media types that are sent",
        )

    def _refuse(self, name: str, at: tuple[str, str], breach: Breach) -> None:
        self._refused[name] = breach.problem
        self._say_refused(name, at, breach.problem)

    def _say_refused(self, name: str, at: tuple[str, str], problem: Problem) -> None:
        place = f"{problem.file}:{problem.line}:{problem.column}"
        hint = f"see {place}: {problem.message}"
        self._note(at, "MW209", f"{self._name}.{name} is not served", hint)

    def _note(
        self, at: tuple[str, ...], code: str, message: str, hint: str = "", *, key: bool = True
    ) -> None:
        """Note a warning at a place below `paths`."""
        path = ("paths", *at)
        source = self._library.source(self._library.root, path)
        self._findings.note(source, path, Level.WARNING, code, message, hint, key=key)

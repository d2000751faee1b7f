"""An OpenAPI document after reading: its operations, and those that cannot be served."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path as FilePath

from msgspec import Struct, field
from msgspec.structs import replace

from engine.source.problem import Findings, Problem
from engine.spec.bodies.response_schemas import ResponseValidators, compile_responses
from engine.spec.document.cache import CacheEntry
from engine.spec.document.node import Library, Node
from engine.spec.operation import Operation, recompile
from engine.spec.operation_reader import OperationReader
from engine.spec.request_writer import RequestWriter
from engine.spec.schemas.broken_keyword import BrokenKeyword
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.json_schema_files import NestedTooDeeply, Purpose
from engine.spec.schemas.schema_validator import SchemaValidator


class Specification(Struct, frozen=True):
    """A document after reading: its operations, and its files for the console and the mock.

    `refusals` are the operations that cannot be served, each with the problem that prevents it.
    """

    name: str
    operations: Mapping[str, Operation]
    library: Library
    refusals: Mapping[str, Problem] = field(default_factory=dict)
    _schemas: dict[Purpose, Schemas] = field(default_factory=dict)
    _cache_entry: tuple[CacheEntry, Sequence[Problem]] | None = None

    def node(self, operation: Operation) -> Node:
        """The node of the operation in the document."""
        node = self.library.document
        for step in operation.at:
            node = node.get(str(step))
        return node

    def item(self, operation: Operation) -> Node:
        """The path item of the operation."""
        return self.library.document.get("paths").get(str(operation.at[1]))

    def writer(self, operation: Operation, slash_variables: Collection[str] = ()) -> RequestWriter:
        """Writes requests of the operation from values; `slash_variables` are the variables of its
        path that may contain slashes."""
        return RequestWriter(operation, self.item(operation), self.node(operation), slash_variables)

    def recompile(
        self, operation: Operation, *, lenient: bool, with_names: bool, with_read_only: bool = False
    ) -> Operation:
        """The operation compiled for a route: with `lenient` schemas, or `with_names` of the
        bodies' members, or `with_read_only`, those of the read-only ones.
        """
        schemas = self._schemas_for(Purpose.LENIENT if lenient else Purpose.REQUEST)
        return recompile(
            *(operation, self.node(operation), self.item(operation), schemas),
            with_names=with_names,
            with_read_only=with_read_only,
        )

    def response_validators(self, operation: Operation) -> ResponseValidators:
        """The validators of an operation's responses. Raises ValueError for a broken schema."""
        return compile_responses(self.node(operation), self._schemas_for(Purpose.RESPONSE))

    def left_out(self, purpose: Purpose) -> list[BrokenKeyword]:
        """The keywords without which schemas were compiled for a purpose, but those that requests
        lack as well, of which `read` has warned."""
        requests, others = self._schemas.get(Purpose.REQUEST), self._schemas.get(purpose)
        left_out = {(uri, path) for uri, path, _ in requests.left_out} if requests else set()
        return [b for b in others.left_out if (b.uri, b.path) not in left_out] if others else []

    def validator(self, schema: Node, *, response: bool = False) -> SchemaValidator:
        """The validator of a part of requests or responses. Raises ValueError for a broken
        schema."""
        purpose = Purpose.RESPONSE if response else Purpose.REQUEST
        return self._schemas_for(purpose).validator(schema)

    def finish_compiling(self) -> None:
        """Free the schemas and the targets of references, which compiled operations do not need,
        and cache the document."""
        self._schemas.clear()
        self.library.targets = {}
        if self._cache_entry is not None:
            entry, problems = self._cache_entry
            entry.store(self.library, problems)

    def note(
        self,
        kind: str,
        depends_on: Iterable[object],
        findings: Findings,
        note: Callable[[Findings], None],
    ) -> None:
        """Note findings that `note` adds, or those that it has added for the same document, `kind`
        and values that they depend on."""
        if self._cache_entry is None:
            note(findings)
        else:
            self._cache_entry[0].note(kind, depends_on, findings, note)

    def _schemas_for(self, purpose: Purpose) -> Schemas:
        if purpose not in self._schemas:
            strict = self._schemas.get(Purpose.REQUEST)
            cheap = purpose is Purpose.LENIENT and strict is not None and not strict.costly
            self._schemas[purpose] = Schemas(self.library, purpose, cheap=cheap)
        return self._schemas[purpose]


def read(
    name: str,
    file: FilePath,
    display_name: str,
    mounts: Sequence[str],
    findings: Findings,
    overlays: Sequence[tuple[FilePath, str]] = (),
    cache: FilePath | None = None,
    json_name: Callable[[str], str] | None = None,
) -> Specification | None:
    """Read a document into operations; None if it has errors. All problems go to the findings.

    `mounts` are path prefixes, used instead of the path of its server URL. A breach of the standard
    with a clear meaning is repaired; otherwise what breaches it is left out. `cache` is a folder
    for large documents after parsing. `json_name` is that of the dialect.
    """
    entry = _entry(cache, file, display_name, overlays)
    library, document_findings = _library(entry, file, display_name, overlays)
    findings.unsorted += document_findings.unsorted
    findings.texts.update(document_findings.texts)
    if library is None:
        return None
    library.json_name = json_name
    library.pack()  # most of it describes responses, which are read by few
    schemas = Schemas(library, earlier=entry.schema_facts if entry is not None else None)
    try:
        reader = OperationReader(name, library, schemas, tuple(mounts), findings)
        reader.read()
    except NestedTooDeeply:
        message = "schemas cannot be read: they are nested too deeply"
        findings.error(library.document.source, (), "MW204", message)
        return None
    facts = schemas.finish_reading()
    compiled = {Purpose.REQUEST: schemas}
    specification = Specification(name, reader.operations, library, reader.refusals, compiled)
    if entry is None:
        return specification
    entry.schema_facts = facts
    return replace(specification, _cache_entry=(entry, document_findings.unsorted))


def _entry(
    cache: FilePath | None,
    file: FilePath,
    display_name: str,
    overlays: Sequence[tuple[FilePath, str]],
) -> CacheEntry | None:
    """The cache entry of a document; None without a cache, and for a file that cannot be read,
    which `load` reports."""
    try:
        return CacheEntry(cache, file, display_name, overlays) if cache is not None else None
    except OSError:
        return None


def _library(
    entry: CacheEntry | None,
    file: FilePath,
    display_name: str,
    overlays: Sequence[tuple[FilePath, str]],
) -> tuple[Library | None, Findings]:
    """The files of a document, from the cache if it has them, and what was found in them."""
    findings = Findings()
    library = entry.load(findings) if entry is not None else None
    if library is None:
        from engine.spec.load import load_and_repair  # not needed with the cache

        findings = Findings()
        library = load_and_repair(file, display_name, findings, overlays)
    return library, findings

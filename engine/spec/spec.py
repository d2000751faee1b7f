"""An OpenAPI document after reading: its operations, and those that cannot be served."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as FilePath

from engine.source.failure_place import reading
from engine.source.problem import Findings, Level, Path, Place, Problem, place_of
from engine.spec.broken_keyword import BrokenKeyword
from engine.spec.document import misspelt_keys, reference_siblings, structure
from engine.spec.document.cache import CacheEntry
from engine.spec.document.item_schemas import describe_items
from engine.spec.document.load import load, repair
from engine.spec.document.node import Library, Node, method_of, operations_of
from engine.spec.document.references import remove_lost
from engine.spec.document.repairs import path_keys
from engine.spec.document.self_references import remove_self_references
from engine.spec.document.swagger.conversion import convert
from engine.spec.operation import Declaration, Operation, compile_operation, recompile
from engine.spec.path_templates import shape
from engine.spec.request_writer import RequestWriter
from engine.spec.response_schemas import ResponseValidators, compile_responses
from engine.spec.schema_validator import SchemaValidator
from engine.spec.schemas import Purpose, Schemas
from engine.values.http_methods import is_served

_MAX_STEPS_PER_VALUE = 100_000
"""Of a schema without a warning: a request of a hundred bytes then takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class Specification:
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

    def _item(self, operation: Operation) -> Node:
        """The path item of the operation."""
        return self.library.document.get("paths").get(str(operation.at[1]))

    def writer(self, operation: Operation, wide: Collection[str] = ()) -> RequestWriter:
        """Writes requests of the operation from values; `wide` are the variables of its path that
        may contain slashes."""
        return RequestWriter(operation, self._item(operation), self.node(operation), wide)

    def recompile(
        self, operation: Operation, *, lenient: bool, with_names: bool, with_read_only: bool = False
    ) -> Operation:
        """The operation compiled for a route: with `lenient` schemas, or `with_names` of the
        bodies' members, or `with_read_only`, those of the read-only ones.
        """
        schemas = self._schemas_for(Purpose.LENIENT if lenient else Purpose.REQUEST)
        return recompile(
            *(operation, self.node(operation), self._item(operation), schemas),
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
        noted = {(uri, path) for uri, path, _ in requests.left_out} if requests else set()
        return [b for b in others.left_out if (b.uri, b.path) not in noted] if others else []

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

    def _schemas_for(self, purpose: Purpose) -> Schemas:
        if purpose not in self._schemas:
            strict = self._schemas.get(Purpose.REQUEST)
            cheap = purpose is Purpose.LENIENT and strict is not None and not strict.expensive
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
    document_findings = Findings()
    library = entry.load(document_findings) if entry is not None else None
    if library is None:
        document_findings = Findings()
        library = _load_and_repair(file, display_name, document_findings, overlays)
    findings.unsorted += document_findings.unsorted
    findings.texts.update(document_findings.texts)
    if library is None:
        return None
    library.json_name = json_name
    try:
        schemas = Schemas(library, proven=entry is not None and entry.schemas_are_proven)
    except (ValueError, RecursionError) as error:
        reason = "they are nested too deeply" if isinstance(error, RecursionError) else error
        message = f"schemas cannot be read: {reason}"
        findings.error(library.document.source, (), "MW204", message)
        return None
    specification = _OperationReader(name, library, schemas, tuple(mounts), findings).read()
    schemas.release_files()
    library.pack()
    if entry is None:
        return specification
    entry.schemas_are_proven = not (schemas.has_broken or schemas.expensive)
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


def _load_and_repair(
    file: FilePath, display_name: str, findings: Findings, overlays: Sequence[tuple[FilePath, str]]
) -> Library | None:
    """The files of a document, repaired; None if it has errors."""
    library = load(file, display_name, findings, overlays)
    if library is None:
        return None
    misspelt_keys.check(library, findings)
    if library.is_20:
        convert(library)
    repair(library, findings)
    if library.is_32:
        describe_items(library)
    remove_self_references(library, findings)
    walked = structure.check(library, findings)
    while findings.unsorted and not findings.errors and remove_lost(library, findings):
        walked = structure.check(library, findings)
    if findings.errors:
        return None
    reference_siblings.apply(walked, findings)
    return library


@dataclass(slots=True)
class _OperationReader:
    """Reads the operations of a library one by one."""

    name: str
    library: Library
    schemas: Schemas
    mounts: tuple[str, ...]
    findings: Findings
    operations: dict[str, Operation] = field(default_factory=dict)
    refusals: dict[str, Problem] = field(default_factory=dict)
    shared_paths: dict[tuple[object, ...], list[tuple[str, tuple[str, ...]]]] = field(
        default_factory=dict
    )

    def read(self) -> Specification:
        self.library.targets = {}  # the document is repaired, and changes no more
        for key, item in self.library.document.get("paths").items():
            if key.startswith("x-"):
                continue
            address = path_keys.read(key)
            path_problem = path_keys.problem(address)
            if path_problem is not None:
                self._note((key,), "MW205", f"path '{key}': {path_problem}")
            for at, node in operations_of(item):
                name = self._unique_name(node, (key, *at))
                if path_problem is not None:
                    self.refusals[name] = self.findings.unsorted[-1]
                elif not is_served(method_of(at)):
                    message = f"no request can have the method '{method_of(at)}'"
                    hint = (
                        "a method has 3 to 20 characters, none in lower case; CONNECT is a tunnel"
                    )
                    self._note((key, *at), "MW260", message, hint)
                    self.refusals[name] = self.findings.unsorted[-1]
                else:
                    with reading(partial(self._place, ("paths", key, *at))):
                        self._read_operation(name, (key, *at), item, node, address)
            if path_problem is None:
                for words in address.repairs:
                    self._note((key,), "MW228", f"path '{key}': {words}")
        self._note_alternatives()
        self._note_unchecked_ranges()
        self._note_expensive()
        self._note_left_out()
        schemas = {Purpose.REQUEST: self.schemas}
        return Specification(self.name, self.operations, self.library, self.refusals, schemas)

    def _read_operation(
        self, name: str, at: tuple[str, ...], item: Node, node: Node, address: path_keys.Address
    ) -> None:
        wider = path_keys.widen(address, node, item)
        for words in wider.repairs[len(address.repairs) :]:
            self._note((at[0],), "MW228", f"path '{at[0]}': {words}")
        place = (method_of(at[1:]), wider.query, shape(wider.template))
        findings = Findings()
        declaration = Declaration(self.name, name, at, wider, self.mounts)
        operation = None
        path = ("paths", *at)
        source = self.library.source(self.library.root, path)
        try:
            operation = compile_operation(declaration, item, node, self.schemas, findings)
        except KeyError as error:
            message = f"a reference has no target: there is no {error}"
            findings.error(source, path, "MW202", message, key=True)
        for problem in findings.unsorted:
            if problem.level is Level.ERROR:
                problem = replace(problem, level=Level.WARNING)
                self.refusals.setdefault(name, problem)
            self.findings.unsorted.append(problem)
        self.findings.texts.update(findings.texts)
        if name in self.refusals:
            self._refuse(name, at, self.refusals[name])
        elif operation is not None:
            self.operations[name] = operation
            self.shared_paths.setdefault(place, []).append((name, at))

    def _place(self, at: Path) -> Place:
        return place_of(self.library.source(self.library.root, at), at, key=True)

    def _unique_name(self, operation: Node, at: tuple[str, ...]) -> str:
        """The operation's name: its operationId, or method and path if that is already in use."""
        name, plain = operation.text("operationId"), f"{method_of(at[1:])} {at[0]}"
        if name and (name in self.operations or name in self.refusals):
            message = f"operationId '{name}' is used twice"
            first = self.operations.get(name)
            hint = f"it is also {first.method} {first.path}; " if first is not None else ""
            self._note(
                (*at, "operationId"),
                "MW206",
                message,
                f"{hint}this one is known as '{plain}'",
                key=False,
            )
            return plain
        return name or plain

    def _note_alternatives(self) -> None:
        """Note a warning for each method and path that several operations share."""
        for sharing in self.shared_paths.values():
            if len(sharing) < 2:
                continue
            (first, _), (second, at), *others = sharing
            path = self.operations[second].path
            more = f" and {len(others)} more" if others else ""
            message = f"'{second}' and '{first}'{more} are {method_of(at[1:])} {path}"
            hint = "a request belongs to the first of them that accepts it"
            self._note(at, "MW230", message, hint)

    def _note_unchecked_ranges(self) -> None:
        """Note a single warning for all media ranges under which some bodies are not validated."""
        ranges_by_name = {name: op.bodies.unchecked_ranges for name, op in self.operations.items()}
        ranges_by_name = {name: ranges for name, ranges in ranges_by_name.items() if ranges}
        if not ranges_by_name:
            return
        first = next(iter(ranges_by_name))
        ranges = " and ".join(f"'{name}'" for name in sorted(set().union(*ranges_by_name.values())))
        more = f" and {len(ranges_by_name) - 1} more operations" if len(ranges_by_name) > 1 else ""
        message = f"{first}{more}: bodies under {ranges} are validated only as JSON, "
        operation = self.operations[first]
        self._note(
            tuple(map(str, operation.at[1:])),
            "MW241",
            f"{message}forms and text; other media types are not validated",
            "name the media types that callers send",
        )

    def _note_expensive(self) -> None:
        """Warn of each schema by which a small request could take long to validate."""
        by_uri = {uri.as_uri(): uri for uri in self.library.files}
        for node, cost in self.schemas.expensive:
            uri, path = by_uri.get(cost.worst.uri, node.uri), cost.worst.path
            if cost.most < _MAX_STEPS_PER_VALUE:
                continue
            at = Node(self.library, uri, path, None)
            message = (
                f"this schema can be expensive: its branches apply schemas up to {cost.most:,} "
                "times to one value"
            )
            hint = "write schemas that several branches refer to once, outside of the branches"
            self.findings.note(at.source, path, Level.WARNING, "MW216", message, hint)

    def _note_left_out(self) -> None:
        """Warn of each keyword without which a schema was compiled."""
        by_uri = {uri.as_uri(): uri for uri in self.library.files}
        for uri, path, reason in self.schemas.left_out:
            at = Node(self.library, by_uri[uri], path, None)
            message = f"'{path[-1]}' cannot be compiled and is left out: {reason}"
            self.findings.note(at.source, path, Level.WARNING, "MW254", message, key=True)

    def _refuse(self, name: str, at: tuple[str, ...], problem: Problem) -> None:
        """Refuse an operation because of a problem that is noted at another place."""
        self.refusals[name] = problem
        place = f"{problem.file}:{problem.line}:{problem.column}"
        hint = f"see {place}: {problem.message}"
        self._note(at, "MW209", f"{self.name}.{name} is not served", hint)

    def _note(
        self, at: tuple[str, ...], code: str, message: str, hint: str = "", *, key: bool = True
    ) -> None:
        """Note a warning at a place below `paths`."""
        path = ("paths", *at)
        source = self.library.source(self.library.root, path)
        self.findings.note(source, path, Level.WARNING, code, message, hint, key=key)

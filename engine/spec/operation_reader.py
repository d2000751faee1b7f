"""Reads the operations of a document, and notes what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from engine.source.failure_place import reading
from engine.source.problem import Findings, Level, Path, Place, Problem, place_of
from engine.spec.document import path_keys
from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import method_of, operations_of
from engine.spec.document.path_templates import shape
from engine.spec.operation import Declaration, Operation, compile_operation
from engine.spec.schemas.compiled_schemas import Schemas
from engine.values.http_names import is_served
from engine.values.units import format_count

_MAX_STEPS_PER_VALUE = 100_000
"""Of a schema without a warning: a request of a hundred bytes then takes some milliseconds."""


@dataclass(slots=True)
class OperationReader:
    """Reads the operations of a library one by one: those to serve into `operations`, the others,
    each with the problem that prevents it, into `refusals`."""

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

    def read(self) -> None:
        self.library.targets = {}  # the document is repaired, and changes no more
        for key, item in self.library.document.get("paths").items():
            if key.startswith("x-"):
                continue
            address = path_keys.read(key)
            path_problem = path_keys.problem(address)
            if path_problem is not None:
                message = f"path '{key}': {path_problem.message}"
                self._note((key,), "MW205", message, path_problem.hint)
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

    def _read_operation(
        self, name: str, at: tuple[str, ...], item: Node, node: Node, address: path_keys.Address
    ) -> None:
        with_slashes = path_keys.add_slash_variable(address, node, item)
        for words in with_slashes.repairs[len(address.repairs) :]:
            self._note((at[0],), "MW228", f"path '{at[0]}': {words}")
        place = (method_of(at[1:]), with_slashes.query, shape(with_slashes.template))
        findings = Findings()
        declaration = Declaration(self.name, name, at, with_slashes, self.mounts)
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
        others = format_count(len(ranges_by_name) - 1, "more operation")
        more = f" and {others}" if len(ranges_by_name) > 1 else ""
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
        hint = f"see {problem.place}: {problem.message}"
        self._note(at, "MW209", f"{self.name}.{name} is not served", hint)

    def _note(
        self, at: tuple[str, ...], code: str, message: str, hint: str = "", *, key: bool = True
    ) -> None:
        """Note a warning at a place below `paths`."""
        path = ("paths", *at)
        source = self.library.source(self.library.root, path)
        self.findings.note(source, path, Level.WARNING, code, message, hint, key=key)

"""`Library`, the files of one document, and `Node`, a value in them with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import quote

from engine.source.problem import Path, Source
from engine.source.reader import SourceDocument, read_file
from engine.spec.document import packed_mappings
from engine.spec.document.graft_source import GraftSource
from engine.spec.document.reference_target import UNUSABLE_NAME, pointer_steps, target_of
from engine.values.json_pointer import escape

CONVERTED = "3.0.4+swagger-2.0"
"""The version of a document that was converted from Swagger 2.0."""

_EXTENDED = ("paths",), ("responses",)
_MAX_REFS = 64
_INDEX_DIGITS = 9


@dataclass(slots=True)
class Library:
    """The files of one document by absolute path, the document itself first.

    `absent` are missing files that it refers to, `overlays` the overlays applied to it,
    `extensions` the parts of extensions that references lead to, `unresolved` the mappings of which
    a reference without a target was removed as the document was read. `grafts` maps, for each file,
    paths in its value to the overlay or file, and the path in it, from which the value comes.
    `targets` are those of references that were followed; None while the values of the files may
    still change, and after `release`. `resolved` are the files that references name, while they
    are followed for the first time. `json_name` gives the name of a member that requests may spell
    in another way too, None where each has one spelling.
    """

    root: FilePath
    files: dict[FilePath, SourceDocument] = field(default_factory=dict)
    extensions: list[tuple[FilePath, Path]] = field(default_factory=list)
    unresolved: list[tuple[FilePath, Path]] = field(default_factory=list)
    grafts: dict[FilePath, dict[Path, tuple[SourceDocument, Path]]] = field(default_factory=dict)
    overlays: dict[FilePath, SourceDocument] = field(default_factory=dict)
    absent: list[FilePath] = field(default_factory=list)
    targets: dict[tuple[FilePath, str], Node] | None = None
    resolved: dict[tuple[FilePath, str], FilePath] = field(default_factory=dict)
    json_name: Callable[[str], str] | None = None

    def open(self, path: FilePath, display_name: str) -> SourceDocument:
        """Read a file, or return it if it has been read."""
        if path not in self.files:
            self.files[path] = read_file(path, display_name)
        return self.files[path]

    @property
    def documents(self) -> list[SourceDocument]:
        """The files and the overlays."""
        return [*self.files.values(), *self.overlays.values()]

    def pack(self) -> None:
        """Pack the values of the files: the operations are compiled, and what is read from now on
        is not kept. The memory is free for the next document; if the values of all documents were
        freed together, what is in use between them would keep most of it."""
        for document in self.documents:
            document.value = packed_mappings.packed(document.value)

    def unpacked(self) -> Library:
        """A copy with plain values, for readers that read all of them, or read mappings in C."""
        return self._copy(packed_mappings.unpacked)

    def parsed_once(self) -> Library:
        """A copy that keeps what is read of it, for readers that tell values apart by `id()`."""
        return self._copy(packed_mappings.parsed_once)

    def _copy(self, convert: Callable[[object], object]) -> Library:
        files = {uri: replace(file, value=convert(file.value)) for uri, file in self.files.items()}
        return replace(self, files=files, targets={})

    def has_any_key(self, keys: tuple[bytes, ...]) -> bool:
        """Whether a mapping in the files may have one of these keys, each given as `"key":`."""
        return any(packed_mappings.has_any_key(file.value, keys) for file in self.files.values())

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """A `with` block in which no value of the files changes: each reference is followed once.
        What changes one all the same empties `targets`."""
        self.targets = {}
        try:
            yield
        finally:
            self.targets = None

    def release(self) -> None:
        """Free the texts and positions of the files, which only problems need."""
        self.targets = None
        for document in self.documents:
            document.free_positions()

    @property
    def document(self) -> Node:
        return Node(self, self.root, (), self.files[self.root].value)

    @property
    def is_30(self) -> bool:
        """Whether it is OpenAPI 3.0 or Swagger 2.0, whose schemas are not JSON Schema 2020-12."""
        return str(self.files[self.root].value["openapi"]).startswith("3.0")

    @property
    def is_32(self) -> bool:
        """Whether it is OpenAPI 3.2, in which sequences of items have schemas."""
        return str(self.files[self.root].value["openapi"]).startswith("3.2")

    @property
    def is_20(self) -> bool:
        """Whether it is Swagger 2.0, converted or not."""
        value = self.files[self.root].value
        version = value.get("openapi", CONVERTED)
        return version == CONVERTED and str(value.get("swagger")) == "2.0"

    def source(self, uri: FilePath, path: Path) -> Source:
        """The file from which the value at `path` of the file `uri` comes."""
        if grafts := self.grafts.get(uri):
            for end in range(len(path), 0, -1):
                if (graft := grafts.get(path[:end])) is not None:
                    return GraftSource(graft[0], path[:end], graft[1])
        return self.files[uri]

    def origin(self, uri: FilePath, path: Path) -> tuple[SourceDocument, Path]:
        """The file from which a value comes, and its path in that file."""
        source = self.source(uri, path)
        if isinstance(source, GraftSource):
            return source.origin, (*source.at_file, *path[len(source.at_document) :])
        return self.files[uri], path

    def target(self, uri: FilePath, ref: str) -> Node:
        """The node that a `$ref` in a file leads to. Raises KeyError as `at`."""
        # Thousands of operations refer to the same.
        node = None if self.targets is None else self.targets.get((uri, ref))
        if node is None:
            try:
                file, pointer = target_of(ref, uri)
            except UNUSABLE_NAME as error:
                raise KeyError(ref) from error
            node = self.at(file, pointer)
            if self.targets is not None:
                self.targets[uri, ref] = node
        return node

    def at(self, uri: FilePath, pointer: str) -> Node:
        """The node at a JSON Pointer. Raises KeyError with the first step that does not exist."""
        node = Node(self, uri, (), self.files[uri].value)
        for step in pointer_steps(pointer):
            node = node.step(step)
        return node


@dataclass(slots=True)
class Node:
    """A value in a library, with its file and path. Treat it as immutable: frozen, it would take
    three times as long to create, and a large document has a million nodes."""

    library: Library
    uri: FilePath
    path: Path
    value: Any

    @property
    def source(self) -> Source:
        return self.library.source(self.uri, self.path)

    @property
    def pointer(self) -> str:
        """The URI of this node with a JSON Pointer, for `$ref`."""
        steps = (quote(escape(str(step)), safe="") for step in self.path)
        return f"{self.uri.as_uri()}#" + "".join(f"/{step}" for step in steps)

    @property
    def ref(self) -> str | None:
        """The `$ref` of this mapping; None for any other value."""
        ref = self.value.get("$ref") if isinstance(self.value, dict) else None
        return ref if isinstance(ref, str) else None

    def get(self, key: str) -> Node:
        """The child with this key, references followed; its value is None if there is none."""
        value = self.value
        child = value.get(key) if isinstance(value, dict) else None
        node = Node(self.library, self.uri, (*self.path, key), child)
        return node.resolved() if isinstance(child, dict) and "$ref" in child else node

    def has(self, key: str) -> bool:
        """Whether this is a mapping with this key."""
        return isinstance(self.value, dict) and key in self.value

    def literal(self, key: str) -> Node:
        """The child with this key; a `$ref` in it is data. Its value is None if there is none."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return Node(self.library, self.uri, (*self.path, key), value)

    def items(self) -> Iterator[tuple[str, Node]]:
        """Keys and nodes of a mapping, references followed; nothing for anything else. Those of
        paths and of an operation's responses are without extensions, which nothing resolves."""
        if isinstance(self.value, dict):
            has_extensions = self.path[-1:] in _EXTENDED and "components" not in self.path
            for key in self.value:
                if not (has_extensions and str(key).startswith("x-")):
                    yield key, self.get(key)

    def elements(self) -> Iterator[Node]:
        """Nodes of a list, references followed; nothing for anything else."""
        if isinstance(self.value, list):
            for index in range(len(self.value)):
                yield self.step(index).resolved()

    def text(self, key: str, default: str = "") -> str:
        """The string at `key`; `default` if it is absent or not a string."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return value if isinstance(value, str) else default

    def resolved(self) -> Node:
        """This node, or the target of its `$ref`, through several references if needed.

        Raises KeyError if there is no target; `load` has removed such references.
        """
        node = self
        for _ in range(_MAX_REFS):
            if (ref := node.ref) is None:
                return node
            node = node.library.target(node.uri, ref)
        raise KeyError(node.ref)

    def follow(self, schema: object) -> Any:
        """A schema value of this file with its `$ref` followed."""
        return Node(self.library, self.uri, self.path, schema).resolved().value

    def step(self, key: str | int) -> Node:
        """The child, references not followed. Raises KeyError if there is none."""
        value = self.value
        if isinstance(value, list) and _is_index(str(key)) and int(key) < len(value):
            return Node(self.library, self.uri, (*self.path, int(key)), value[int(key)])
        if isinstance(value, dict) and key in value:
            return Node(self.library, self.uri, (*self.path, key), value[key])
        raise KeyError(str(key))


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) <= _INDEX_DIGITS

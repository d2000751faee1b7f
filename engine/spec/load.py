"""Reading an OpenAPI document and the files it refers to, with the place of everything.

A `Node` is a value somewhere in these files: it follows `$ref` by itself and knows its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import unquote

from engine.marked_yaml import Marked, read_file
from engine.problem import Findings, Path, did_you_mean

_MAX_REFS = 64
_NOT_SCHEMA = frozenset({"example", "default", "const", "enum"})


@dataclass(slots=True)
class Library:
    """The files of one document by absolute path, the document itself first."""

    root: FilePath
    files: dict[FilePath, Marked] = field(default_factory=dict)

    def open(self, path: FilePath, shown: str) -> Marked:
        """The file, read once."""
        if path not in self.files:
            self.files[path] = read_file(path, shown)
        return self.files[path]

    @property
    def document(self) -> Node:
        return Node(self, self.root, (), self.files[self.root].value)

    def at(self, uri: FilePath, pointer: str) -> Node:
        """The node at a JSON Pointer. Raises KeyError with the step that leads nowhere."""
        node = Node(self, uri, (), self.files[uri].value)
        for step in pointer.split("/")[1:]:
            node = node._step(unquote(step).replace("~1", "/").replace("~0", "~"))
        return node


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a library: which file, where in it, and what it is."""

    library: Library
    uri: FilePath
    path: Path
    value: Any

    @property
    def source(self) -> Marked:
        return self.library.files[self.uri]

    @property
    def pointer(self) -> str:
        """This node's URI with a JSON Pointer: what a schema `$ref` may say."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in self.path)
        return f"{self.uri.as_uri()}#" + "".join(f"/{_quoted(step)}" for step in steps)

    def get(self, key: str) -> Node:
        """The node below, references followed; its value is None when there is none."""
        if isinstance(self.value, dict) and key in self.value:
            return self._step(key).resolved()
        return Node(self.library, self.uri, (*self.path, key), None)

    def items(self) -> Iterator[tuple[str, Node]]:
        """Keys and nodes of a mapping, references followed; nothing for anything else."""
        if isinstance(self.value, dict):
            for key in self.value:
                yield key, self.get(key)

    def elements(self) -> Iterator[Node]:
        """Nodes of a list, references followed; nothing for anything else."""
        if isinstance(self.value, list):
            for index in range(len(self.value)):
                yield self._step(index).resolved()

    def text(self, key: str, default: str = "") -> str:
        """The string below, or `default` when it is absent or no string."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return value if isinstance(value, str) else default

    def resolved(self) -> Node:
        """This node, or what its `$ref` leads to (through several, if need be).

        Raises KeyError when it leads nowhere; `check_references` reports that beforehand.
        """
        node = self
        for _ in range(_MAX_REFS):
            if not (isinstance(node.value, dict) and isinstance(node.value.get("$ref"), str)):
                return node
            target, _, pointer = node.value["$ref"].partition("#")
            node = node.library.at(_file_of(target, node.uri), pointer)
        raise KeyError(node.value["$ref"])

    def _step(self, key: str | int) -> Node:
        value = self.value
        if isinstance(value, list) and str(key).isdigit() and int(key) < len(value):
            return Node(self.library, self.uri, (*self.path, int(key)), value[int(key)])
        if isinstance(value, dict) and key in value:
            return Node(self.library, self.uri, (*self.path, key), value[key])
        raise KeyError(str(key))


def load(path: FilePath, shown: str, findings: Findings) -> Library | None:
    """Read a document and every file it refers to; None when it is no OpenAPI document at all.

    A reference that leads nowhere is an error in `findings`; the library is not to be used then.
    """
    library = Library(path.resolve())
    marked = library.open(library.root, shown)
    findings.take(marked)
    if marked.problems:
        return None
    if not isinstance(marked.value, dict):
        findings.error(marked, (), "MW201", "not an OpenAPI document: a mapping was expected")
        return None
    version = marked.value.get("openapi")
    if not isinstance(version, str) or not version.startswith(("3.0", "3.1")):
        said = f"'openapi' is {version!r}" if "openapi" in marked.value else "no 'openapi' key"
        hint = "convert Swagger 2.0 to OpenAPI 3 first" if "swagger" in marked.value else ""
        findings.error(
            marked, ("openapi",), "MW201", f"not OpenAPI 3.0 or 3.1: {said}", hint, key=True
        )
        return None
    _check_references(library, findings)
    return library


def _check_references(library: Library, findings: Findings) -> None:
    """Follow every `$ref` of every file, opening files as they are named."""
    waiting = [library.root]
    while waiting:
        uri = waiting.pop()
        node = Node(library, uri, (), library.files[uri].value)
        opened = [_check_reference(at, findings) for at in _references(node)]
        waiting += [file for file in opened if file is not None]
    if len(library.files) > 1:
        _make_absolute(library)


def _make_absolute(library: Library) -> None:
    """Write every `$ref` as an absolute URI: a schema then means the same wherever it is read."""
    for uri, file in library.files.items():
        for at in list(_references(Node(library, uri, (), file.value))):
            target, _, pointer = at.value["$ref"].partition("#")
            at.value["$ref"] = f"{_file_of(target, uri).as_uri()}#{pointer}"


def _file_of(target: str, base: FilePath) -> FilePath:
    """The file that the part of a `$ref` before `#` names, seen from the file `base`."""
    if target.startswith("file://"):
        return FilePath(unquote(target.removeprefix("file://")))
    return (base.parent / unquote(target)).resolve() if target else base


def _references(node: Node) -> Iterator[Node]:
    """Every node with a `$ref`, except inside examples and other literal values."""
    stack: list[tuple[Path, Any]] = [((), node.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, list):
            stack.extend(((*path, index), below) for index, below in enumerate(value))
        elif isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield Node(node.library, node.uri, path, value)
            named = path and path[-1] == "properties"
            literal = frozenset() if named else _NOT_SCHEMA
            stack.extend(
                ((*path, key), below)
                for key, below in value.items()
                if isinstance(below, dict | list)
                and key not in literal
                and not (key == "value" and len(path) > 1 and path[-2] == "examples")
                and not (key == "examples" and isinstance(below, list) and not named)
            )


def _check_reference(node: Node, findings: Findings) -> FilePath | None:
    """Note a reference that leads nowhere; the path of a file seen for the first time."""
    ref = node.value["$ref"]
    library, at = node.library, (*node.path, "$ref")
    target, _, pointer = ref.partition("#")
    uri, opened = node.uri, None
    if "://" in target:
        findings.error(
            node.source,
            at,
            "MW203",
            f"'{target}' is not a local file",
            "download it beside this one",
        )
        return None
    if target:
        uri = _file_of(target, node.uri)
        if uri not in library.files:
            opened = uri
            shown = str(FilePath(node.source.file).parent / unquote(target))
            other = library.open(uri, shown)
            if not uri.exists():
                findings.error(node.source, at, "MW203", f"there is no file '{target}'")
                return None
            findings.take(other)
    if library.files[uri].problems:
        return opened
    if pointer and not pointer.startswith("/"):
        message = f"'{ref}' is not a JSON Pointer"
        findings.error(node.source, at, "MW202", message, f"write '{target}#/{pointer}'")
        return opened
    try:
        library.at(uri, pointer)
    except KeyError as error:
        names = _siblings(library, uri, pointer)
        findings.error(
            node.source,
            at,
            "MW202",
            f"'{ref}' leads nowhere: there is no {error}",
            did_you_mean(error.args[0], names, "define it, or correct the reference"),
        )
        return opened
    if opened is None and _circles(node):
        findings.error(node.source, at, "MW202", f"'{ref}' leads back to itself")
    return opened


def _circles(node: Node) -> bool:
    """Whether a chain of references never comes to a value; a broken one has its own problem."""
    seen: set[str] = set()
    while isinstance(node.value, dict) and isinstance(ref := node.value.get("$ref"), str):
        target, _, pointer = ref.partition("#")
        at = f"{_file_of(target, node.uri)}#{pointer}"
        if at in seen:
            return True
        seen.add(at)
        try:
            node = node.library.at(_file_of(target, node.uri), pointer)
        except KeyError:
            return False
    return False


def _siblings(library: Library, uri: FilePath, pointer: str) -> list[str]:
    """The names there are at the step where a pointer goes wrong."""
    steps = pointer.split("/")
    for end in range(len(steps), 0, -1):
        try:
            parent = library.at(uri, "/".join(steps[:end])).value
        except KeyError:
            continue
        return list(parent) if isinstance(parent, dict) else []
    return []


def _quoted(step: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-._~") else _percent(c) for c in step)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())

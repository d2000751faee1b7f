"""References (`$ref`): opens their files, removes broken references, makes all others absolute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import unquote

from engine.source.files import is_file
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import UNUSABLE_NAME, Breach, Library, Node, target_of
from engine.spec.document.self_uris import SelfUris
from engine.spec.schemas import NAMING

_VALUES = frozenset({"value", "dataValue"})
_NOT_SCHEMA = frozenset({"example", "default", "const", "enum"})


def check_references(library: Library, findings: Findings) -> None:
    """Follow every `$ref` of every file, and open the files that they name.

    A reference without a target becomes a breach of the library and is removed.
    """
    queue = [library.root]
    uris = SelfUris(library)
    remote: list[Node] = []
    while queue:
        uri = queue.pop()
        uris.add(uri)
        nodes = list(references(Node(library, uri, (), library.files[uri].value)))
        uris.localize(nodes)
        remote += [at for at in nodes if _is_remote(at)]
        new_files = [_check(at, findings) for at in nodes if not _is_remote(at)]
        queue += [file for file in new_files if file is not None]
        if not queue:  # a file that was opened since may have the URI of a remote one
            uris.localize(remote)
            new_files = [_check(at, findings) for at in remote]
            queue, remote = [file for file in new_files if file is not None], []
    for breach in library.breaches:
        value = Node(library, breach.uri, (), library.files[breach.uri].value)
        for step in breach.path:
            value = value.step(step)
        value.value.pop("$ref", None)
    if len(library.files) > 1:
        _make_absolute(library)
    library.resolved.clear()


def references(node: Node, keywords: Sequence[str] = ("$ref",)) -> Iterator[Node]:
    """Every node with a `$ref`, or another of these keywords with a text, except inside examples
    and other literal values."""
    stack: list[tuple[Path, Any]] = [((), node.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, list):
            stack.extend(((*path, index), item) for index, item in enumerate(value))
        elif isinstance(value, dict):
            if any(isinstance(value.get(keyword), str) for keyword in keywords):
                yield Node(node.library, node.uri, path, value)
            is_name = bool(path) and path[-1] in NAMING
            literal = frozenset() if is_name else _NOT_SCHEMA
            stack.extend(
                ((*path, key), child)
                for key, child in value.items()
                if isinstance(child, dict | list)
                and key not in literal
                and not (key in _VALUES and len(path) > 1 and path[-2] == "examples")
                and not (key == "examples" and isinstance(child, list) and not is_name)
            )


def remove_lost(library: Library, findings: Findings) -> bool:
    """Remove every `$ref` whose target has been removed from the document since, each with a
    warning and a breach of the library. Returns whether there was any."""
    lost = [
        at
        for uri, file in library.files.items()
        for at in references(Node(library, uri, (), file.value))
        if not _has_target(at)
    ]
    for at in lost:
        pointer = at.value.pop("$ref").partition("#")[2]
        message = f"the target of '#{pointer}' has been removed"
        _breach(at, "MW202", message, "correct the target: another warning names it", findings)
    return bool(lost)


def _is_remote(node: Node) -> bool:
    return "://" in node.value["$ref"].partition("#")[0]


def _has_target(node: Node) -> bool:
    try:
        node.library.at(*target_of(node.value["$ref"], node.uri))
    except KeyError:
        return False
    return True


def _make_absolute(library: Library) -> None:
    """Make every `$ref` an absolute URI, so that schemas can be compiled outside their file."""
    uris: dict[FilePath, str] = {}
    for uri, file in library.files.items():
        for at in list(references(Node(library, uri, (), file.value))):
            target, pointer = target_of(at.value["$ref"], uri, library.resolved)
            if target not in uris:
                uris[target] = target.as_uri()
            at.value["$ref"] = f"{uris[target]}#{pointer}"


def _breach(node: Node, code: str, message: str, hint: str, findings: Findings) -> None:
    at = (*node.path, "$ref")
    findings.note(node.source, at, Level.WARNING, code, message, hint)
    node.library.breaches.append(Breach(node.uri, node.path, findings.unsorted[-1]))


def _check(node: Node, findings: Findings) -> FilePath | None:
    """Note a broken reference. Returns the path of its file if it was opened now."""
    ref = node.value["$ref"]
    library = node.library
    target = ref.partition("#")[0]
    if "://" in target:
        message, hint = f"'{target}' is not a local file", "download it beside this one"
        _breach(node, "MW203", message, hint, findings)
        return None
    try:
        uri, pointer = target_of(ref, node.uri, library.resolved)
    except UNUSABLE_NAME:
        _breach(node, "MW203", f"no file can have the name '{target}'", "", findings)
        return None
    opened = _open(node, uri, target, findings)
    if uri not in library.files or library.files[uri].problems:
        return None
    if pointer and not pointer.startswith("/"):
        message = f"'{ref}' is not a JSON Pointer"
        _breach(node, "MW202", message, f"write '{target}#/{pointer}'", findings)
        return opened
    try:
        library.at(uri, pointer)
    except KeyError as error:
        names = _siblings(library, uri, pointer)
        hint = did_you_mean(error.args[0], names, "define it, or correct the reference")
        message = f"'{ref}' has no target: there is no {error}"
        _breach(node, "MW202", message, hint, findings)
        return opened
    if opened is None and _is_cycle(node):
        _breach(node, "MW202", f"'{ref}' refers to itself", "", findings)
    return opened


def _open(node: Node, uri: FilePath, target: str, findings: Findings) -> FilePath | None:
    """Open the file of a reference. Returns its path if it is new and can be read."""
    library = node.library
    if uri in library.files:
        if library.files[uri].problems:
            _breach(node, "MW203", f"the file '{target}' cannot be read", "", findings)
        return None
    if not is_file(uri):
        library.absent.append(uri)
        _breach(node, "MW203", f"there is no file '{target}'", "", findings)
        return None
    display_name = str(FilePath(library.files[node.uri].file).parent / unquote(target))
    file = library.open(uri, display_name)
    if file.problems:
        findings.texts[file.file] = file.text
        findings.unsorted += [replace(p, level=Level.WARNING) for p in file.problems]
        _breach(node, "MW203", f"the file '{target}' cannot be read", "", findings)
        return None
    return uri


def _is_cycle(node: Node) -> bool:
    """Whether a chain of references is a cycle. A broken chain is noted elsewhere."""
    visited: set[tuple[FilePath, str]] = set()
    while (ref := node.ref) is not None:
        try:
            target = target_of(ref, node.uri, node.library.resolved)
            if target in visited:
                return True
            visited.add(target)
            node = node.library.at(*target)
        except (KeyError, *UNUSABLE_NAME):
            return False
    return False


def _siblings(library: Library, uri: FilePath, pointer: str) -> list[str]:
    """The names that exist at the first missing step of a pointer."""
    steps = pointer.split("/")
    for end in range(len(steps), 0, -1):
        try:
            parent = library.at(uri, "/".join(steps[:end])).value
        except KeyError:
            continue
        return list(parent) if isinstance(parent, dict) else []
    return []

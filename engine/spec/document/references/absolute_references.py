"""References (`$ref`): opens their files, removes broken references, makes all others absolute."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path as FilePath
from urllib.parse import quote, unquote

from engine.source.files import is_file
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.document.negations import remove_negation
from engine.spec.document.node import Library, Node
from engine.spec.document.reference_target import UNUSABLE_NAME, target_of
from engine.spec.document.references.reference_walk import all_references, is_extension, references
from engine.spec.document.references.schema_ids import SchemaIds
from engine.spec.document.references.self_uris import SelfUris
from engine.values.json_pointer import escape


def check_references(library: Library, findings: Findings) -> SchemaIds:
    """Follow every `$ref` of every file, and open the files that they name. Returns the names of
    schemas in them; no `$ref` is by name afterwards.

    A reference without a target is removed, with a warning: what has it is then not described.
    """
    broken: list[Node] = []
    uris = SelfUris(library)
    remote: list[Node] = []
    queue = [library.document]
    while queue:
        node = queue.pop()
        if not node.path:
            uris.add(node.uri)
        nodes = list(references(node))
        uris.localize(nodes)
        remote += [at for at in nodes if _is_remote(at)]
        queue += _follow([at for at in nodes if not _is_remote(at)], broken, uris, findings)
        if not queue:  # a file that was opened since may have the URI of a remote one
            uris.localize(remote)
            queue, remote = _follow(remote, broken, uris, findings), []
    _note_cycles([node for node in broken if _is_cycle(node)], library, findings)
    for node in broken:
        _remove(node)
    if len(library.files) > 1:
        _make_absolute(library)
    library.resolved.clear()
    return uris.schemas


def remove_lost(library: Library, refs: Iterable[tuple[FilePath, str]], findings: Findings) -> bool:
    """Remove every `$ref` whose target has been removed from the document since, each with a
    warning. Returns whether there was any. `refs` are the files and texts of all."""
    without_target = {(uri, ref) for uri, ref in refs if not _has_target(library, uri, ref)}
    if not without_target:
        return False
    lost = [at for at in all_references(library) if (at.uri, at.value["$ref"]) in without_target]
    for at in lost:
        pointer = at.value["$ref"].partition("#")[2]
        message = f"the target of '#{pointer}' has been removed"
        _note(at, "MW202", message, "correct the target: another warning names it", findings)
        _remove(at)
    return bool(lost)


def _is_remote(node: Node) -> bool:
    target = node.value["$ref"].partition("#")[0]
    return "://" in target or target.startswith("urn:")


def _follow(
    nodes: Iterable[Node], broken: list[Node], uris: SelfUris, findings: Findings
) -> list[Node]:
    """What is to be checked now, because of these references; those without a target are added to
    `broken`."""
    opened: list[Node] = []
    sound: set[tuple[FilePath, str]] = set()
    for at in nodes:
        key = (at.uri, at.value["$ref"])
        new, is_sound = ([], True) if key in sound else _check(at, uris, findings)
        opened += new
        if not is_sound:
            broken.append(at)
            continue
        if not new:
            sound.add(key)
        if _names_members(at):
            _include_members(at, findings)
    return opened


def _remove(node: Node) -> None:
    node.value.pop("$ref", None)
    remove_negation(node.library, node.uri, node.path)
    node.library.unresolved.append((node.uri, node.path))


def _has_target(library: Library, uri: FilePath, ref: str) -> bool:
    try:
        library.at(*target_of(ref, uri))
    except KeyError:
        return False
    return True


def _make_absolute(library: Library) -> None:
    """Make every `$ref` an absolute URI, so that schemas can be compiled outside their file."""
    uris: dict[FilePath, str] = {}
    for at in list(all_references(library)):
        target, pointer = target_of(at.value["$ref"], at.uri, library.resolved)
        if target not in uris:
            uris[target] = target.as_uri()
        at.value["$ref"] = f"{uris[target]}#{pointer}"


def _names_members(node: Node) -> bool:
    """Whether this is a mapping of names, of which `$ref` is one: a property has that name."""
    return bool(node.path) and node.path[-1] == "properties" and _is_schema_key(node)


def _is_schema_key(node: Node) -> bool:
    """Whether the last step of a node's path is a keyword, and not the name of a property."""
    return len(node.path) < 2 or node.path[-2] not in ("properties", "patternProperties")


def _include_members(node: Node, findings: Findings) -> None:
    """Read a `$ref` in place of the names of properties, as some tools do: each member of its
    target is a property. Where the target is not a mapping of schemas it is left out."""
    ref = node.value["$ref"]
    uri, pointer = target_of(ref, node.uri)
    members = node.library.at(uri, pointer).value
    if isinstance(members, dict) and all(isinstance(m, dict) for m in members.values()):
        message = "'$ref' in place of names; the members of its target are read as properties"
        for name in members:
            step = quote(escape(name), safe="")
            at = ref if "#" in ref else f"{ref}#"
            node.value.setdefault(name, {"$ref": f"{at}/{step}"})
    else:
        message = "'$ref' in place of names has no properties as its target; it is left out"
    _note(node, "MW251", message, "write a $ref for each property", findings)
    del node.value["$ref"]


def _note(node: Node, code: str, message: str, hint: str, findings: Findings) -> None:
    findings.note(node.source, (*node.path, "$ref"), Level.WARNING, code, message, hint)


def _check(node: Node, uris: SelfUris, findings: Findings) -> tuple[list[Node], bool]:
    """Note a broken reference. Returns what is to be checked now, a new file or a part of an
    extension, and whether the reference has a target."""
    ref = node.value["$ref"]
    library = node.library
    target = ref.partition("#")[0]
    if _is_remote(node):
        message, hint = f"'{target}' is not a local file", "download it beside this one"
        _note(node, "MW203", message, hint, findings)
        return [], False
    try:
        uri, pointer = target_of(ref, node.uri, library.resolved)
    except UNUSABLE_NAME:
        _note(node, "MW203", f"no file can have the name '{target}'", "", findings)
        return [], False
    new = [] if uri in library.files else [uri]
    if not _open(node, uri, target, findings):
        return [], False
    opened = [Node(library, uri, (), library.files[uri].value) for uri in new]
    if new and pointer and not pointer.startswith("/"):
        uris.add(uri)
        uris.localize([node])
        uri, pointer = target_of(node.value["$ref"], node.uri, library.resolved)
    if pointer and not pointer.startswith("/"):
        message = f"'{ref}' is not a JSON Pointer"
        _note(node, "MW202", message, f"write '{target}#/{pointer}'", findings)
        return opened, False
    try:
        target_node = library.at(uri, pointer)
    except KeyError as error:
        names = _siblings(library, uri, pointer)
        hint = did_you_mean(error.args[0], names, "define it, or correct the reference")
        message = f"'{ref}' has no target: there is no {error}"
        _note(node, "MW202", message, hint, findings)
        return opened, False
    if not new and _is_cycle(node):  # told later, if anything uses it
        return opened, False
    return [*opened, *_extension(target_node)], True


def _extension(target: Node) -> list[Node]:
    """The target of a reference if it is a part of an extension that no other leads to yet."""
    steps = enumerate(target.path)
    inside = any(str(s).startswith("x-") and is_extension(target.path[:i]) for i, s in steps)
    if not inside or (target.uri, target.path) in target.library.extensions:
        return []
    target.library.extensions.append((target.uri, target.path))
    return [target]


def _open(node: Node, uri: FilePath, target: str, findings: Findings) -> bool:
    """Open the file of a reference, unless it is open. Returns whether it can be read."""
    library = node.library
    if uri not in library.files:
        if not is_file(uri):
            library.absent.append(uri)
            hint = "names of files are relative to the file with the $ref"
            _note(node, "MW203", f"there is no file '{target}'", hint, findings)
            return False
        display_name = str(FilePath(library.files[node.uri].file).parent / unquote(target))
        file = library.open(uri, display_name)
        if file.problems:
            findings.texts[file.file] = file.text
            findings.unsorted += [replace(p, level=Level.WARNING) for p in file.problems]
    if library.files[uri].problems:
        _note(node, "MW203", f"the file '{target}' cannot be read", "", findings)
        return False
    return True


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


def _note_cycles(cycles: list[Node], library: Library, findings: Findings) -> None:
    """Note the references to themselves that something outside the components leads to."""
    used = _used(library) if cycles else set()
    for node in cycles:
        if (node.uri, node.path) in used:
            _note(node, "MW202", f"'{node.ref}' refers to itself", "", findings)


def _used(library: Library) -> set[tuple[FilePath, Path]]:
    """The places of all references that are used: outside the components, and in what these lead
    to."""
    value = library.document.value
    components = {"components", "definitions", "parameters", "responses"}
    queue = [library.document.step(key) for key in value if key not in components]
    used: set[tuple[FilePath, Path]] = set()
    while queue:
        for at in references(queue.pop()):
            if (at.uri, at.path) not in used:
                used.add((at.uri, at.path))
                with suppress(KeyError, *UNUSABLE_NAME):
                    queue.append(library.at(*target_of(at.value["$ref"], at.uri)))
    return used


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

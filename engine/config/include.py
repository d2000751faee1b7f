"""`include: [routes/*.yaml]`: gateway.yaml in several files, each value with its file and place.

An included file has the same sections: lists are appended, mappings merged. Includes do not nest.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath

from engine.config import keys
from engine.config.joined_document import TAGS, JoinedDocument, Origin, joined_document
from engine.config.literal_secrets import add_masked
from engine.config.references import expander
from engine.config.stores import SQLITE
from engine.source.files import is_file, names_in
from engine.source.problem import Findings, Level, Path, place_of
from engine.source.reader import SourceDocument, read_file
from engine.source.suggestion import did_you_mean
from engine.values.trees import Json, value_at

_SCALARS = frozenset({"version", "currency"})


def join_includes(
    main: SourceDocument, folder: FilePath, environ: Mapping[str, str], findings: Findings
) -> tuple[JoinedDocument, bool]:
    """Join a file with the files that it includes; False if one of them could not be read.

    `main.value` is a mapping. Problems of the included files go to the findings.
    """
    document = joined_document(main)
    patterns = document.value.get("include")
    if not isinstance(patterns, list):
        return document, patterns is None
    complete = True
    for relative in _files(patterns, main, folder, findings):
        file_name = str(FilePath(main.file).parent / relative)
        path = folder / relative
        part = read_file(path, file_name, expander(environ, path.parent), TAGS)
        add_masked(part, findings)
        document.files.append(part)
        document.problems += part.problems
        document.expansions.update(part.expansions)
        complete = complete and not part.problems
        if isinstance(part.value, dict):
            rebase(part.value, os.path.dirname(relative), folder)
            _join(document, part, findings)
        elif part.value is not None:
            findings.error(part, (), "MW103", "an included file must be a mapping of sections")
    return document, complete and not any(p.code == "MW108" for p in findings.unsorted)


def _files(
    patterns: list[object], main: SourceDocument, folder: FilePath, findings: Findings
) -> Iterator[str]:
    """The files of the patterns, each once, sorted within a pattern; paths from the folder."""
    main_path = os.path.realpath(folder / FilePath(main.file).name)
    visited = {main_path}
    for index, pattern in enumerate(patterns):
        at: Path = ("include", index)
        if not isinstance(pattern, str) or not pattern:
            continue
        if is_file(folder / pattern) and os.path.realpath(folder / pattern) == main_path:
            findings.error(main, at, "MW110", "the file includes itself", "remove this line")
            continue
        wild = glob.has_magic(pattern)
        names = sorted(glob.glob(pattern, root_dir=folder, recursive=True)) if wild else [pattern]
        files = [name for name in names if is_file(folder / name)]
        if not files and wild:
            message = f"'{pattern}' matches no file"
            hint = "the path starts at this file's folder"
            findings.note(main, at, Level.WARNING, "MW111", message, hint)
        elif not files:
            near_names = names_in(folder / os.path.dirname(pattern))
            base, otherwise = os.path.basename(pattern), "it starts at this file's folder"
            hint = did_you_mean(base, near_names, otherwise)
            findings.error(main, at, "MW108", f"there is no file '{pattern}'", hint)
        for name in files:
            real = os.path.realpath(folder / name)
            if real not in visited:
                visited.add(real)
                yield name


def _join(document: JoinedDocument, part: SourceDocument, findings: Findings) -> None:
    for section, value in part.value.items():
        if section == "include":
            message = "an included file may not include others"
            hint = "name them all in gateway.yaml; a pattern like parts/**/*.yaml covers folders"
            findings.error(part, (section,), "MW110", message, hint, key=True)
            continue
        existing = document.value.get(section)
        if value is None:
            continue
        if existing is None or (section == "version" and value == existing):
            document.value[section] = list(value) if isinstance(value, list) else value
            if isinstance(value, dict):
                document.value[section] = dict(value)
            document.origin.children.setdefault(section, Origin(part, (section,)))
        elif isinstance(existing, list) and isinstance(value, list):
            origin = document.origin.entry(section)
            for index in range(len(value)):
                origin.children[len(existing) + index] = Origin(part, (section, index))
            existing.extend(value)
        elif isinstance(existing, dict) and isinstance(value, dict):
            _join_names(document, part, section, findings)
        else:
            _note_duplicate(document, part, (section,), findings)


def _join_names(
    document: JoinedDocument, part: SourceDocument, section: str, findings: Findings
) -> None:
    origin = document.origin.entry(section)
    for name, value in part.value[section].items():
        if name in document.value[section]:
            _note_duplicate(document, part, (section, name), findings)
            continue
        document.value[section][name] = value
        origin.children[name] = Origin(part, (section, name))


def _note_duplicate(
    document: JoinedDocument, part: SourceDocument, at: Path, findings: Findings
) -> None:
    earlier = place_of(document, at, key=True)
    message = f"'{at[-1]}' is defined in two files: also at {earlier}"
    reason = "their values cannot be joined; " if at[-1] in _SCALARS or len(at) == 1 else ""
    findings.error(part, at, "MW109", message, f"{reason}keep one of them", key=True)


def rebase(value: Json, base: str, folder: FilePath) -> None:
    """Rewrite every relative path in an included file's value. `base` is that file's folder,
    relative to `folder`, the folder of gateway.yaml. Values of another type stay unchanged."""
    visited: set[tuple[int, str | int]] = set()  # an alias shares the mapping of its anchor
    for path, text, key in list(keys.values(value, keys.root(), "path")) if base else ():
        if key is None or not isinstance(text, str) or text in ("", *key.notes.get("words", ())):
            continue
        holder = value_at(value, path[:-1])
        if (id(holder), path[-1]) not in visited:
            visited.add((id(holder), path[-1]))
            holder[path[-1]] = _rebase_path(text, base, folder)


def _rebase_path(text: str, base: str, folder: FilePath) -> str:
    scheme = SQLITE if text.startswith(SQLITE) else ""
    path = text.removeprefix(scheme)
    if os.path.isabs(path) or (not scheme and "://" in path):
        return text
    unresolved = os.path.join(base, path)
    normal = os.path.normpath(unresolved)
    # After a symbolic link, `..` may lead to another folder than `normpath` assumes.
    same = os.path.realpath(folder / unresolved) == os.path.realpath(folder / normal)
    return scheme + (normal if same else unresolved)

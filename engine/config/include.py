"""`include: [routes/*.yaml]`: gateway.yaml in several files, every value with its own place.

An included file has the same sections: lists are appended, mappings joined. Includes do not nest.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from engine.config import keys
from engine.config.literal_secrets import literals
from engine.config.references import expander
from engine.source.files import is_file, names_in
from engine.source.problem import Findings, Level, Path
from engine.source.reader import SourceDocument, read_file
from engine.source.suggestion import did_you_mean

_SCALARS = frozenset({"version", "currency"})
_SQLITE = "sqlite:///"


@dataclass(slots=True)
class JoinedDocument(SourceDocument):
    """gateway.yaml with what it includes as one value. `parts` holds what stands in other files,
    by the first two steps of its path; `files` are all of them, gateway.yaml first."""

    parts: dict[Path, tuple[SourceDocument, Path]] = field(default_factory=dict)
    files: list[SourceDocument] = field(default_factory=list)

    def part(self, path: Path) -> tuple[SourceDocument, Path]:
        """The file that holds a value, and its path there."""
        for length in (2, 1):
            if path[:length] in self.parts:
                marked, at = self.parts[path[:length]]
                return marked, at + path[length:]
        return self.files[0], path

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of a value in the file that `part` names."""
        marked, at = self.part(path)
        return marked.place(at, key=key)

    def reference(self, path: Path) -> str:
        """What the file that holds a value says where `${...}` was filled into it, else ""."""
        marked, at = self.part(path)
        return marked.reference(at)

    def redact(self, words: str) -> str:
        """The words with every value that was filled in, in any file, put back."""
        for marked in self.files:
            words = marked.redact(words)
        return words


def assemble(
    main: SourceDocument, folder: FilePath, environ: Mapping[str, str], findings: Findings
) -> tuple[JoinedDocument, bool]:
    """The file joined with what it includes, and whether all of that could be read.

    `main.value` is a mapping. Problems of the included files go to the findings.
    """
    value = {k: list(v) if isinstance(v, list) else v for k, v in main.value.items()}
    value = {k: dict(v) if isinstance(v, dict) else v for k, v in value.items()}
    made = JoinedDocument(
        main.file, main.text, value, list(main.problems), dict(main.expansions), files=[main]
    )
    listed = value.pop("include", None)
    whole = listed is None or isinstance(listed, list)
    if not isinstance(listed, list):
        if listed is not None:
            made.value["include"] = listed
        return made, whole
    made.value["include"] = listed
    for relative in _files(listed, main, folder, findings):
        shown = str(FilePath(main.file).parent / relative)
        path = folder / relative
        part = read_file(path, shown, expander(environ, path.parent))
        findings.take(part)
        findings.conceal(shown, [(one.start, one.end) for one in literals(part)])
        made.files.append(part)
        made.problems += part.problems
        made.expansions.update(part.expansions)
        whole = whole and not part.problems
        if isinstance(part.value, dict):
            rebase(part.value, os.path.dirname(relative), folder)
            _join(made, part, findings)
        elif part.value is not None:
            findings.error(part, (), "MW103", "an included file must be a mapping of sections")
    return made, whole and not any(p.code == "MW108" for p in findings.found)


def _files(
    listed: list[Any], main: SourceDocument, folder: FilePath, findings: Findings
) -> Iterator[str]:
    """The files of the patterns, each once, sorted within a pattern; paths from the folder."""
    own = os.path.realpath(folder / FilePath(main.file).name)
    seen = {own}
    for index, pattern in enumerate(listed):
        at: Path = ("include", index)
        if not isinstance(pattern, str) or not pattern:
            continue
        if is_file(folder / pattern) and os.path.realpath(folder / pattern) == own:
            findings.error(main, at, "MW110", "the file includes itself", "take this line out")
            continue
        wild = glob.has_magic(pattern)
        found = sorted(glob.glob(pattern, root_dir=folder, recursive=True)) if wild else [pattern]
        files = [name for name in found if is_file(folder / name)]
        if not files and wild:
            message = f"'{pattern}' matches no file"
            hint = "the path starts at this file's folder"
            findings.note(main, at, Level.WARNING, "MW111", message, hint)
        elif not files:
            names = names_in(folder / os.path.dirname(pattern))
            hint = did_you_mean(os.path.basename(pattern), names, "it starts at this file's folder")
            findings.error(main, at, "MW108", f"there is no file '{pattern}'", hint)
        for name in files:
            real = os.path.realpath(folder / name)
            if real not in seen:
                seen.add(real)
                yield name


def _join(made: JoinedDocument, part: SourceDocument, findings: Findings) -> None:
    for section, below in part.value.items():
        if section == "include":
            message = "an included file may not include others"
            hint = "name them all in gateway.yaml; a pattern like parts/**/*.yaml takes in folders"
            findings.error(part, (section,), "MW110", message, hint, key=True)
            continue
        there = made.value.get(section)
        if below is None:
            continue
        if there is None or (section == "version" and below == there):
            made.value[section] = list(below) if isinstance(below, list) else below
            if isinstance(below, dict):
                made.value[section] = dict(below)
            made.parts.setdefault((section,), (part, (section,)))
            _own(made, part, section, below)
        elif isinstance(there, list) and isinstance(below, list):
            for index in range(len(below)):
                made.parts[section, len(there) + index] = (part, (section, index))
            there.extend(below)
        elif isinstance(there, dict) and isinstance(below, dict):
            _join_names(made, part, section, findings)
        else:
            _twice(made, part, (section,), findings)


def _own(made: JoinedDocument, part: SourceDocument, section: str, below: Any) -> None:
    """Note the file of every entry of a section that begins in it: others may add to it."""
    names = range(len(below)) if isinstance(below, list) else below
    for name in names if isinstance(below, list | dict) else ():
        made.parts[section, name] = (part, (section, name))


def _join_names(
    made: JoinedDocument, part: SourceDocument, section: str, findings: Findings
) -> None:
    for name, below in part.value[section].items():
        if name in made.value[section]:
            _twice(made, part, (section, name), findings)
            continue
        made.value[section][name] = below
        made.parts[section, name] = (part, (section, name))


def _twice(made: JoinedDocument, part: SourceDocument, at: Path, findings: Findings) -> None:
    other, there = made.part(at)
    line, column = other.place(there, key=True)
    message = f"'{at[-1]}' stands in two files: also at {other.file}:{line}:{column}"
    what = "their values cannot be joined; " if at[-1] in _SCALARS or len(at) == 1 else ""
    findings.error(part, at, "MW109", message, f"{what}keep one of them", key=True)


def rebase(value: dict[str, Any], base: str, folder: FilePath) -> None:
    """Rewrite every relative path in an included file's value. `base` is that file's folder, seen
    from `folder`, the folder of gateway.yaml. Values of another shape are left alone."""
    done: set[tuple[int, str | int]] = set()  # an alias shares the mapping of its anchor
    for path, text, key in list(keys.values(value, keys.root(), "path")) if base else ():
        if key is None or not isinstance(text, str) or text in ("", *key.notes.get("words", ())):
            continue
        holder: Any = value
        for step in path[:-1]:
            holder = holder[step]
        if (id(holder), path[-1]) not in done:
            done.add((id(holder), path[-1]))
            holder[path[-1]] = _rebased(text, base, folder)


def _rebased(text: str, base: str, folder: FilePath) -> str:
    scheme = _SQLITE if text.startswith(_SQLITE) else ""
    path = text.removeprefix(scheme)
    if os.path.isabs(path) or (not scheme and "://" in path):
        return text
    joined = os.path.join(base, path)
    plain = os.path.normpath(joined)
    # `..` behind a link leads elsewhere than the text says.
    same = os.path.realpath(folder / joined) == os.path.realpath(folder / plain)
    return scheme + (plain if same else joined)

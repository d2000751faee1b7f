"""A cache of repaired documents on disk: reading a large document takes seconds.

An entry is JSON, which cannot run code. Its name is a hash of the document, its overlays, and the
code that reads documents; it contains the hashes of the other files. It is read only if its file
and folder belong to this user and no other user may write to them. Without a valid entry, a
document is read from its files.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import cache
from importlib import metadata
from pathlib import Path as FilePath
from typing import Any

from engine.source.files import is_file, read_text
from engine.source.problem import Findings, Level, Path, Problem
from engine.source.reader import SourceDocument
from engine.spec.document.node import Library

SMALLEST = 200_000
"""The fewest characters, in all files of a document, for which an entry is stored."""

MOST_ENTRIES = 20
_LARGEST = 200_000_000
_ENGINE = FilePath(__file__).resolve().parents[2]
_ROOMS = ("spec", "source")
log = logging.getLogger("modelway")


def folder_of(environ: Mapping[str, str]) -> FilePath | None:
    """The user's folder for entries: `$XDG_CACHE_HOME/modelway`, or `~/.cache/modelway`."""
    if base := environ.get("XDG_CACHE_HOME") or "":
        return FilePath(base) / "modelway" if FilePath(base).is_absolute() else None
    home = environ.get("HOME", "")
    return FilePath(home) / ".cache" / "modelway" if home else None


class CacheEntry:
    """The cache entry of one document. `schemas_are_proven`: the schemas of its requests were
    compiled, by the same jsonschema_rs."""

    def __init__(
        self,
        folder: FilePath,
        file: FilePath,
        display_name: str,
        overlays: Sequence[tuple[FilePath, str]],
    ) -> None:
        self._folder = folder
        self._names = [
            (file.resolve(), display_name),
            *((path.resolve(), s) for path, s in overlays),
        ]
        hashed = hashlib.sha256(program_hash(_ENGINE))
        hashed.update(compiler_version().encode())
        for path, name in self._names:
            hashed.update(f"{path}\0{name}\0{_hash(path)}\0".encode())
        self._file = folder / f"{hashed.hexdigest()}.json"
        self._places = -1  # none is stored yet
        self.schemas_are_proven = False

    def load(self, findings: Findings) -> Library | None:
        """The library from the cache; its problems go to the findings. None without a valid
        entry."""
        data = self._read()
        if data is None:
            return None
        try:
            return self._library(json.loads(data), findings)
        except (ValueError, KeyError, TypeError, IndexError, OSError) as error:
            log.warning("the cache entry %s cannot be used: %s", self._file, error)
            return None

    def store(self, library: Library, problems: Iterable[Problem]) -> None:
        """Store a large library with its problems, unless the cache already has the same."""
        files = [*library.files.items(), *library.overlays.items()]
        places = sum(len(marked.positions) for _, marked in files)
        if places == self._places or sum(len(marked.text) for _, marked in files) < SMALLEST:
            return
        order = {id(marked): index for index, (_, marked) in enumerate(files)}
        entry = {
            "files": [
                [
                    str(uri),
                    marked.file,
                    _digest(marked.text),
                    marked.is_json,
                    _positions(marked.positions),
                ]
                for uri, marked in files
            ],
            "proven": self.schemas_are_proven,
            "values": [marked.value for marked in library.files.values()],
            "problems": [astuple(problem) for problem in problems],
            "extensions": [[str(uri), path] for uri, path in library.extensions],
            "absent": [str(uri) for uri in library.absent],
            "grafts": [
                [str(uri), [[path, order[id(m)], at] for path, (m, at) in grafts.items()]]
                for uri, grafts in library.grafts.items()
            ],
        }
        try:
            data = json.dumps(entry, separators=(",", ":")).encode("utf-8", "surrogatepass")
            self._write(data)
        except (OSError, TypeError) as error:
            log.info("%s is not cached: %s", library.root, error)

    def _library(self, entry: dict[str, Any], findings: Findings) -> Library | None:
        root, _ = self._names[0]
        library = Library(root)
        marks: list[SourceDocument] = []
        count = len(entry["values"])
        for index, (uri, display_name, digest, is_json, places) in enumerate(entry["files"]):
            text = read_text(FilePath(uri), "utf-8-sig")
            if _digest(text) != digest:
                return None
            marked = SourceDocument(
                display_name, text, entry["values"][index] if index < count else None
            )
            marked.is_json = is_json is True
            marked.positions = {(tuple(path), key): (li, co) for path, key, li, co in places}
            path = root if uri == str(root) else FilePath(uri)  # nodes refer to the object `root`
            (library.files if index < count else library.overlays)[path] = marked
            marks.append(marked)
        library.absent = [FilePath(uri) for uri in entry["absent"]]
        if any(map(is_file, library.absent)):
            return None
        library.extensions = [(FilePath(uri), tuple(path)) for uri, path in entry["extensions"]]
        library.grafts = {
            FilePath(uri): {tuple(p): (marks[i], tuple(at)) for p, i, at in grafts}
            for uri, grafts in entry["grafts"]
        }
        findings.unsorted += [_problem(fields) for fields in entry["problems"]]
        findings.texts.update({marked.file: marked.text for marked in marks})
        self._places = sum(len(marked.positions) for marked in marks)
        self.schemas_are_proven = entry["proven"] is True
        return library

    def _read(self) -> bytes | None:
        """The bytes of the entry; None if it does not exist or another user could have written
        it."""
        if not _is_private(self._folder):
            return None
        try:
            descriptor = os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None  # no entry yet
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            untrusted = info.st_uid != os.geteuid() or bool(info.st_mode & 0o022)
            if untrusted or not stat.S_ISREG(info.st_mode) or info.st_size > _LARGEST:
                log.warning(
                    "the cache entry %s is ignored: it must be a file of this user, at most %d "
                    "bytes, that no other user may write to",
                    self._file,
                    _LARGEST,
                )
                return None
            return file.read()

    def _write(self, data: bytes) -> None:
        """Write the entry atomically, readable by this user only."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(self._folder):
            log.warning(
                "%s can be written by other users: documents are not cached there", self._folder
            )
            return
        descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(name, self._file)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name)
            raise
        entries = sorted(self._folder.glob("*.json"), key=_mtime)
        for old in entries[:-MOST_ENTRIES]:
            old.unlink(missing_ok=True)


def _mtime(path: FilePath) -> float:
    """The modification time of an entry; 0.0 if another process has just removed it."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0


def _is_private(folder: FilePath) -> bool:
    """Whether a folder exists, is no symbolic link, and only this user may write to it."""
    try:
        info = folder.lstat()
    except OSError:
        return False
    closed_to_others = info.st_uid == os.geteuid() and not info.st_mode & 0o022
    return stat.S_ISDIR(info.st_mode) and closed_to_others


@cache
def program_hash(engine: FilePath) -> bytes:
    """The hash of the code in `engine` that reads documents: a changed program reads them again."""
    files = [file for room in _ROOMS for file in sorted((engine / room).rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


@cache
def compiler_version() -> str:
    """The version of the library that compiles schemas."""
    return metadata.version("jsonschema-rs")


def _hash(path: FilePath) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _positions(places: Mapping[tuple[Path, bool], tuple[int, int]]) -> list[list[object]]:
    return [[path, key, line, column] for (path, key), (line, column) in places.items()]


def _problem(fields: list[Any]) -> Problem:
    file, line, column, level, code, message, hint = fields
    return Problem(file, line, column, Level(level), code, message, hint)

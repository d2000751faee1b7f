"""A cache of repaired documents on disk: reading 100 KB takes a tenth of a second.

An entry is JSON, which cannot run code. Its name is a hash of the document, its overlays, and the
code that reads documents; it contains the hashes of the other files. Its first line has all but the
large mappings; their members follow, and are parsed when they are read (`packed_mappings.py`).
Without a valid entry, a document is read from its files. `cache_folder.py` says which entries are
read.

Beside it are findings about the document that only `modelway check` looks for.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import cache
from importlib import metadata
from pathlib import Path as FilePath
from typing import Any

import msgspec
from msgspec import MsgspecError, Struct

from engine.source.files import is_file, read_text
from engine.source.problem import Findings, Level, Path, Problem
from engine.source.reader import SourceDocument
from engine.spec.document import cache_folder, packed_mappings
from engine.spec.document.node import Library
from engine.values.trees import Json

MIN_SIZE = 5_000
"""The fewest characters, in all files of a document, for which an entry is stored. To read fewer
takes some milliseconds, and 20 to import what reads."""

MAX_ENTRIES = 100
MAX_FINDINGS = 100
_ENGINE = FilePath(__file__).resolve().parents[2]
_ROOMS = ("spec", "source")
_ROOMS_OF_FINDINGS = ("offline", "exchange", "dialects", "values")
"""The rooms beside these whose code finds what is wrong with a document."""
_MEMBERS = '"members":['
_FILE_REFERENCE = re.compile(r"""\$ref["']?\s*:\s*+(?!["']?#)""")
"""A reference that is more than a fragment, or may be."""
log = logging.getLogger("modelway")


class SchemaFacts(Struct, frozen=True):
    """What an earlier process found of the schemas of a document: whether one cannot be compiled,
    and the places of the costly ones, by file and path."""

    has_broken: bool
    costly: frozenset[tuple[str, Path]]


class CacheEntry:
    """The cache entry of one document. `schema_facts` are those of the schemas of its requests, as
    the same jsonschema_rs compiled them."""

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
        self._hashes = [_hash(path) for path, _ in self._names]
        self._file = self._name_of(is_alone=False)
        self._places = -1  # none is stored yet
        self._digests: list[str] = []
        self.schema_facts: SchemaFacts | None = None

    def _name_of(self, *, is_alone: bool) -> FilePath:
        """The file of the entry. That of a document that `is_alone` is the same for a copy in
        another folder: a release, or a new project."""
        hashed = hashlib.sha256(program_hash(_ENGINE))
        hashed.update(compiler_version().encode())
        for (path, name), content in zip(self._names, self._hashes, strict=True):
            place = path.name if is_alone else path
            hashed.update(f"{is_alone}\0{place}\0{name}\0{content}\0".encode())
        return self._folder / f"{hashed.hexdigest()}.json"

    def load(self, findings: Findings) -> Library | None:
        """The library from the cache; its problems go to the findings. None without a valid
        entry."""
        for is_alone in (True, False):
            self._file = self._name_of(is_alone=is_alone)
            data = cache_folder.read(self._file)
            if data is None:
                continue
            try:
                return self._library(*_parts(data.decode("ascii")), findings)
            except (ValueError, KeyError, TypeError, IndexError, OSError, MsgspecError) as error:
                log.warning("the cache entry %s cannot be used: %s", self._file, error)
        return None

    def store(self, library: Library, problems: Iterable[Problem]) -> None:
        """Store a large library with its problems, unless the cache already has the same."""
        files = [*library.files.items(), *library.overlays.items()]
        places = sum(len(marked.positions) for _, marked in files)
        if places == self._places or sum(len(marked.text) for _, marked in files) < MIN_SIZE:
            return
        self._file = self._name_of(is_alone=_is_alone(library))
        order = {id(marked): index for index, (_, marked) in enumerate(files)}
        shells = [packed_mappings.separated(marked.value) for marked in library.files.values()]
        members = ",".join(text for _, texts in shells for text in texts)
        self._digests = [_digest(marked.text) for _, marked in files]
        entry = {
            "files": [
                [str(uri), marked.file, digest, marked.is_json, _positions(marked.positions)]
                for (uri, marked), digest in zip(files, self._digests, strict=True)
            ],
            "schemas": msgspec.to_builtins(self.schema_facts),
            "values": [shell for shell, _ in shells],
            "lengths": [[len(text) for text in texts] for _, texts in shells],
            "checksum": zlib.crc32(members.encode()),
            "problems": [astuple(problem) for problem in problems],
            "extensions": [[str(uri), path] for uri, path in library.extensions],
            "absent": [str(uri) for uri in library.absent],
            "grafts": [
                [str(uri), [[path, order[id(m)], at] for path, (m, at) in grafts.items()]]
                for uri, grafts in library.grafts.items()
            ],
        }
        try:
            head = json.dumps(entry, separators=(",", ":"))
            data = f"{head[:-1]},\n{_MEMBERS}{members}]}}\n".encode("ascii")
            cache_folder.write(self._file, data, MAX_ENTRIES)
        except (OSError, TypeError) as error:
            log.info("%s is not cached: %s", library.root, error)

    def note(
        self,
        kind: str,
        depends_on: Iterable[object],
        findings: Findings,
        note: Callable[[Findings], None],
    ) -> None:
        """Note findings about a large document: those that `note` has added for the same files,
        `kind` and values that they depend on, or what it adds now."""
        if not self._digests:
            return note(findings)
        hashed = hashlib.sha256(program_hash(_ENGINE, _ROOMS_OF_FINDINGS))
        for word in (self._file.name, metadata.version("openapi-spec-validator"), kind):
            hashed.update(f"{word}\0".encode())
        hashed.update(repr((self._digests, *depends_on)).encode("utf-8", "surrogatepass"))
        file = self._file.with_name(f"{hashed.hexdigest()}.findings")
        try:
            data = cache_folder.read(file)
            if data is not None:
                findings.unsorted += [_problem(fields) for fields in json.loads(data)["problems"]]
                return None
        except (ValueError, KeyError, TypeError) as error:
            log.warning("the cache entry %s cannot be used: %s", file, error)
        before = len(findings.unsorted)
        note(findings)
        problems = [astuple(problem) for problem in findings.unsorted[before:]]
        try:
            data = json.dumps({"problems": problems}).encode("ascii")
            cache_folder.write(file, data, MAX_FINDINGS)
        except OSError as error:
            log.info("findings are not cached: %s", error)
        return None

    def _library(self, entry: Json, members: str, findings: Findings) -> Library | None:
        root, _ = self._names[0]
        stored_root = entry["files"][0][0]
        library = Library(root)
        marks: list[SourceDocument] = []
        values = _values(entry, members)
        count = len(values)
        for index, (uri, display_name, digest, is_json, places) in enumerate(entry["files"]):
            path = root if uri == stored_root else FilePath(uri)  # nodes refer to this object
            text = read_text(path, "utf-8-sig")
            if _digest(text) != digest:
                return None
            marked = SourceDocument(display_name, text, values[index] if index < count else None)
            marked.is_json = is_json is True
            marked.positions = {(tuple(path), key): (li, co) for path, key, li, co in places}
            (library.files if index < count else library.overlays)[path] = marked
            marks.append(marked)
        library.absent = [FilePath(uri) for uri in entry["absent"]]
        if any(map(is_file, library.absent)):
            return None
        library.extensions = [
            (root if uri == stored_root else FilePath(uri), tuple(path))
            for uri, path in entry["extensions"]
        ]
        library.grafts = {
            FilePath(uri): {tuple(p): (marks[i], tuple(at)) for p, i, at in grafts}
            for uri, grafts in entry["grafts"]
        }
        facts = msgspec.convert(entry["schemas"], SchemaFacts | None)
        if facts is not None and stored_root != str(root):
            places = ((str(root) if uri == stored_root else uri, at) for uri, at in facts.costly)
            facts = SchemaFacts(has_broken=facts.has_broken, costly=frozenset(places))
        findings.unsorted += [_problem(fields) for fields in entry["problems"]]
        findings.texts.update({marked.file: marked.text for marked in marks})
        self._places = sum(len(marked.positions) for marked in marks)
        self._digests = [digest for _, _, digest, _, _ in entry["files"]]
        self.schema_facts = facts
        return library


def _is_alone(library: Library) -> bool:
    """Whether a document is one file that names none, not even itself: it says the same wherever it
    is."""
    if len(library.files) > 1 or library.overlays or library.absent or library.grafts:
        return False
    text = library.files[library.root].text
    return library.root.name not in text and not _FILE_REFERENCE.search(text)


@cache
def program_hash(engine: FilePath, rooms: Sequence[str] = _ROOMS) -> bytes:
    """The hash of the code in `engine` that reads documents: a changed program reads them again."""
    files = [file for room in rooms for file in sorted((engine / room).rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


@cache
def compiler_version() -> str:
    """The version of the library that compiles schemas."""
    return metadata.version("jsonschema-rs")


def _parts(data: str) -> tuple[Json, str]:
    """The first line of an entry, and the JSON of the members. Raises ValueError."""
    head, _, tail = data.partition("\n")
    entry = json.loads(head.removesuffix(",") + "}")
    members = tail.removeprefix(_MEMBERS).removesuffix("]}\n")
    if zlib.crc32(members.encode()) != entry["checksum"]:
        raise ValueError("it is not complete")
    return entry, members


def _values(entry: Json, members: str) -> list[object]:
    """The values of the files, whose large mappings are packed."""
    values, start = [], 0
    for shell, lengths in zip(entry["values"], entry["lengths"], strict=True):
        texts = []
        for length in lengths:
            texts.append(members[start : start + length])
            start += length + 1
        values.append(packed_mappings.joined(shell, texts))
    return values


def _hash(path: FilePath) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _positions(places: Mapping[tuple[Path, bool], tuple[int, int]]) -> list[list[object]]:
    return [[path, key, line, column] for (path, key), (line, column) in places.items()]


def _problem(fields: list[Any]) -> Problem:
    file, line, column, level, code, message, hint, path = fields
    return Problem(file, line, column, Level(level), code, message, hint, tuple(path))

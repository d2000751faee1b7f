"""Reading YAML and JSON with the position of every value, by the core schema of YAML 1.2.

So `on`, `off`, `yes`, `no` and dates are strings, unlike in YAML 1.1. A repeated key is a problem.
Positions come from a source map, which is built on first use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from engine.process.child_process import run_in_child
from engine.source.files import add_reads, read_text, record_reads
from engine.source.json_places import JsonPlaces
from engine.source.nodes import compose
from engine.source.problem import Level, Path, Problem
from engine.source.source_map import SourceMap
from engine.source.syntax_errors import syntax_fault
from engine.source.values import NO_TAGS, Expand, Values

_MIN_SECRET = 4
_NO_SECRETS = frozenset({"true", "false", "null", "none", "list", "string", "number"})
"""Values that also occur as words of messages."""
LARGE = 200_000
"""Characters from which a text is parsed in a child process: nodes take many times its memory."""


@dataclass(slots=True)
class SourceDocument:
    """A YAML or JSON file: its text, its value, the position of each part. `problems` are its
    syntax errors.

    `expansions` maps each value that came from `${...}` to its text in the file; `references` has
    the same texts by line and column, `tags` the known tags of values. `positions` caches the
    results of `place`. `is_json`: it was read as JSON, not as YAML.
    """

    file: str
    text: str
    value: Any = None
    problems: list[Problem] = field(default_factory=list)
    expansions: dict[str, str] = field(default_factory=dict)
    positions: dict[tuple[Path, bool], tuple[int, int]] = field(default_factory=dict)
    references: dict[tuple[int, int], str] = field(default_factory=dict)
    tags: dict[tuple[int, int], str] = field(default_factory=dict)
    is_json: bool = False
    _source_map: SourceMap | JsonPlaces | None = None

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the value at `path`, or of its key when `key` is true.

        If `path` does not exist, the place of its nearest parent that does.
        """
        position = self.positions.get((path, key))
        if position is None:
            position = self.positions[path, key] = self._place(path, key)
        return position

    def _place(self, path: Path, key: bool) -> tuple[int, int]:
        if self._source_map is None:
            self._source_map = self._map()
            if self._source_map is None:
                return 1, 1
        return self._source_map.find(path, key=key)

    def _map(self) -> SourceMap | JsonPlaces | None:
        """The positions of all values; None for a text without any."""
        if self.is_json:
            return JsonPlaces(self.text)
        return run_in_child(_map, self.text) if len(self.text) >= LARGE else _map(self.text)

    def reference(self, path: Path) -> str:
        """The text of the value at `path` in the file if it has `${...}`, else ""."""
        return self.references.get(self.place(path), "")

    def free_positions(self) -> None:
        """Free the text and the positions, which only problems need. `redact` still works."""
        self.text = ""
        self.positions, self.references, self.tags = {}, {}, {}
        self._source_map = None

    def redact(self, words: str) -> str:
        """The words with every value that came from `${...}` replaced by its text in the file."""
        for value, reference in self.expansions.items():
            if len(value) >= _MIN_SECRET and value not in _NO_SECRETS:
                words = words.replace(value, reference)
        return words


def read(
    text: str, file: str, expand: Expand | None = None, known_tags: frozenset[str] = NO_TAGS
) -> SourceDocument:
    """Read YAML or JSON text. `expand` expands `${...}` in scalar values (not in keys). Values may
    have the known tags; any other tag is a problem.

    Does not raise for errors in the text: they are in `problems`.
    """
    document = SourceDocument(file, text)
    if expand is None and text.lstrip()[:1] == "{" and _read_json(document):
        return document
    try:
        if len(text) >= LARGE:
            _, document, files = run_in_child(_read_large, text, file, expand, known_tags)
            add_reads(files)
        else:
            # A document can consist of thousands of files, and findings are in few of them.
            with_map = expand is not None
            document = _read_yaml(text, file, expand, known_tags, with_map=with_map)
        document.text = text
    except yaml.MarkedYAMLError as error:
        cause = syntax_fault(text, error)
        _note(document, cause.line, cause.column, "MW001", cause.message, cause.hint)
    except yaml.reader.ReaderError as error:
        line, column = _line_and_column(text[: error.position])
        message = f"not YAML: the character U+{ord(text[error.position]):04X} is not allowed"
        _note(document, line, column, "MW001", message, "remove it")
    except RecursionError:
        _note(document, 1, 1, "MW001", "nested too deeply to be read")
    return document


def _read_yaml(
    text: str,
    file: str,
    expand: Expand | None = None,
    known_tags: frozenset[str] = NO_TAGS,
    *,
    with_map: bool = True,
) -> SourceDocument:
    """The document without its text, which need not be sent between processes. `with_map`: also
    with the positions of all its values. Raises like `compose`."""
    document = SourceDocument(file, "")
    if (root := compose(text)) is not None:
        values = Values(file, expand, known_tags)
        document.value = values.of(root)
        document.problems, document.expansions = values.problems, values.expansions
        document.references, document.tags = values.references, values.tags
        if with_map:
            document._source_map = SourceMap(root)
    return document


def _read_large(
    text: str, file: str, expand: Expand | None, known_tags: frozenset[str]
) -> tuple[list[str], SourceDocument, dict[FilePath, str]]:
    """The strings of the document, the document, and the files that `expand` has read.

    The strings come first so that the parent process makes them first, next to each other: those
    in use would else keep the memory of the mappings among them, which are freed before.
    """
    with record_reads() as files:
        document = _read_yaml(text, file, expand, known_tags)
    return list(_strings(document.value, {})), document, files


def _strings(value: Any, strings: dict[str, None]) -> dict[str, None]:
    """The strings in a value, added to `strings`."""
    if isinstance(value, str):
        strings[value] = None
    elif isinstance(value, list):
        for entry in value:
            _strings(entry, strings)
    elif isinstance(value, dict):
        for key, entry in value.items():
            strings[key] = None
            _strings(entry, strings)
    return strings


def _line_and_column(before: str) -> tuple[int, int]:
    """Line and column, from 1, of the character after `before`, the beginning of a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _map(text: str) -> SourceMap | None:
    root = compose(text)
    return SourceMap(root) if root is not None else None


def read_file(
    path: FilePath,
    file: str,
    expand: Expand | None = None,
    known_tags: frozenset[str] = NO_TAGS,
    if_missing: str = "check the path",
) -> SourceDocument:
    """Read a file as UTF-8; one that cannot be read is a problem of the file as a whole, with the
    hint `if_missing` if there is none."""
    document = SourceDocument(file, "")
    try:
        return read(read_text(path, "utf-8-sig"), file, expand, known_tags)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 text: byte 0x{error.object[error.start]:02x} in line {line}"
        _note(document, 0, 0, "MW002", message, "save it as UTF-8 in your editor")
    except OSError as error:
        hint = if_missing if isinstance(error, FileNotFoundError) else "check the path"
        _note(document, 0, 0, "MW002", f"cannot be read: {error.strerror}", hint)
    return document


def _note(
    document: SourceDocument, line: int, column: int, code: str, message: str, hint: str = ""
) -> None:
    document.problems.append(Problem(document.file, line, column, Level.ERROR, code, message, hint))


def _read_json(document: SourceDocument) -> bool:
    """Read JSON, which is much faster than YAML. False for text that the YAML reader must read and
    report on: a syntax error or a repeated key."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(items)
        if len(mapping) < len(items):
            repeated.append("")
        return mapping

    try:
        document.value = json.loads(document.text, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return False
    document.is_json = not repeated
    return document.is_json

"""Reading YAML and JSON with the place of every value, and without YAML 1.1's surprises.

The core schema of YAML 1.2 holds: `on`, `off`, `yes`, `no` and dates are strings. A repeated key is
a problem. Places are looked up in the node tree, which is composed anew only when somebody asks.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from engine.source.files import read_text
from engine.source.isolated import apart
from engine.source.nodes import compose
from engine.source.problem import Level, Path, Problem
from engine.source.source_map import Places
from engine.source.syntax_errors import fault
from engine.source.values import Expand, Values
from engine.values.json_edit import spans

_KEY_BEFORE = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*$')
_SHORTEST_SECRET = 4
_NO_SECRETS = frozenset({"true", "false", "null", "none", "list", "string", "number"})
"""Values that are words of the messages themselves."""
_LARGE = 200_000
"""Characters of a text whose nodes are made in another process: they are many times its size."""


@dataclass(slots=True)
class Marked:
    """What a file says, and where. `problems` are what is wrong with it as YAML.

    `expanded` holds the values that `${...}` was filled into, with what the file says instead;
    `references` holds what the file says there by line and column.
    `known` holds the places that were asked for.
    """

    file: str
    text: str
    value: Any = None
    problems: list[Problem] = field(default_factory=list)
    expanded: dict[str, str] = field(default_factory=dict)
    known: dict[tuple[Path, bool], tuple[int, int]] = field(default_factory=dict)
    references: dict[tuple[int, int], str] = field(default_factory=dict)
    _places: Places | None = None

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the value at `path`, or of its key when `key` is true.

        A path that leads nowhere gives the place of the nearest value above it.
        """
        found = self.known.get((path, key))
        if found is None:
            found = self.known[path, key] = self._place(path, key)
        return found

    def _place(self, path: Path, key: bool) -> tuple[int, int]:
        if self._places is None:
            try:
                large = len(self.text) >= _LARGE
                self._places = apart(_places, self.text) if large else _places(self.text)
            except (yaml.YAMLError, RecursionError):
                # JSON that is no YAML: 1.1 refuses surrogates and long keys, libyaml what is deep
                return self._place_in_json(path, key)
            if self._places is None:
                return 1, 1
        return self._places.find(path, key=key)

    def _place_in_json(self, path: Path, key: bool) -> tuple[int, int]:
        text = self.text.encode()
        for end in range(len(path), -1, -1):
            found = spans(text, tuple(map(str, path[:end])))
            if not found:
                continue
            start = found[0][0]
            if key and end and (before := _KEY_BEFORE.search(text, max(start - 500, 0), start)):
                start = before.start()
            said = text[:start].decode()
            return said.count("\n") + 1, len(said) - said.rfind("\n")
        return 1, 1

    def reference(self, path: Path) -> str:
        """What the file says where `${...}` was filled into the value at `path`, else ""."""
        return self.references.get(self.place(path), "")

    def redact(self, words: str) -> str:
        """The words with every value that was filled in put back to what the file says."""
        for value, said in self.expanded.items():
            if len(value) >= _SHORTEST_SECRET and value not in _NO_SECRETS:
                words = words.replace(value, said)
        return words


def read(text: str, file: str, expand: Expand | None = None) -> Marked:
    """Read YAML or JSON text. `expand` fills in `${...}` in scalar values (not in keys).

    Never raises for what the text says: look at `problems`.
    """
    marked = Marked(file, text)
    if expand is None and text.lstrip()[:1] == "{" and _read_json(marked):
        return marked
    try:
        if expand is None and len(text) >= _LARGE:
            parts = apart(_parts, text, file)
        else:
            parts = _parts(text, file, expand)
        marked.value, marked.problems, marked.expanded, marked.references, marked._places = parts
    except yaml.MarkedYAMLError as error:
        found = fault(text, error)
        _note(marked, found.line, found.column, "MW001", found.message, found.hint)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = (
            f"not YAML: a character that may not stand here (U+{ord(text[error.position]):04X})"
        )
        _note(marked, line, column, "MW001", message, "take it out")
    except RecursionError:
        _note(marked, 1, 1, "MW001", "nested too deeply to be read")
    return marked


def _parts(
    text: str, file: str, expand: Expand | None = None
) -> tuple[Any, list[Problem], dict[str, str], dict[tuple[int, int], str], Places | None]:
    """Value, problems, what was filled in (by value, by place), and places.

    Raises what `compose` raises.
    """
    root = compose(text)
    if root is None:
        return None, [], {}, {}, None
    values = Values(file, expand)
    value = values.of(root)
    return value, values.problems, values.expanded, values.references, Places(root)


def _places(text: str) -> Places | None:
    root = compose(text)
    return Places(root) if root is not None else None


def read_file(path: FilePath, file: str, expand: Expand | None = None) -> Marked:
    """Read a file as UTF-8; one that cannot be read is a problem of the file as a whole."""
    marked = Marked(file, "")
    try:
        return read(read_text(path, "utf-8-sig"), file, expand)
    except UnicodeDecodeError as error:
        _note(marked, 0, 0, "MW002", f"not UTF-8 text (byte {error.start})")
    except OSError as error:
        _note(marked, 0, 0, "MW002", f"cannot be read: {error.strerror}", "check the path")
    return marked


def _note(marked: Marked, line: int, column: int, code: str, message: str, hint: str = "") -> None:
    marked.problems.append(Problem(marked.file, line, column, Level.ERROR, code, message, hint))


def _read_json(marked: Marked) -> bool:
    """Read JSON, which is faster than YAML by far; False where YAML's reader has to say more."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) < len(items):
            repeated.append("")
        return made

    try:
        marked.value = json.loads(marked.text, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return False
    return not repeated

"""Reading YAML and JSON with the place of every value, and without YAML 1.1's surprises.

The core schema of YAML 1.2 holds: `on`, `off`, `yes`, `no` and dates are strings. A repeated key is
a problem. Places are looked up in the node tree, which is composed anew only when somebody asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from engine.files import read_text
from engine.json_text import spans
from engine.places import Places
from engine.problem import Level, Path, Problem
from engine.yaml_nodes import TAG, Loader, compose

Expand = Callable[[str], str]

_KEY_BEFORE = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*$')
_LONGEST_NUMBER = 400
_SHORTEST_SECRET = 4


class ExpandError(Exception):
    """A `${...}` could not be filled in. `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(slots=True)
class Marked:
    """What a file says, and where. `problems` are what is wrong with it as YAML.

    `expanded` holds the values that `${...}` was filled into, with what the file says instead.
    `known` holds the places that were asked for.
    """

    file: str
    text: str
    value: Any = None
    problems: list[Problem] = field(default_factory=list)
    expanded: dict[str, str] = field(default_factory=dict)
    known: dict[tuple[Path, bool], tuple[int, int]] = field(default_factory=dict)
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
                root = compose(self.text)
            except yaml.YAMLError:  # JSON that is no YAML: 1.1 refuses surrogates, long keys
                return self._place_in_json(path, key)
            if root is None:
                return 1, 1
            self._places = Places(root)
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

    def redact(self, words: str) -> str:
        """The words with every value that was filled in put back to what the file says."""
        for value, said in self.expanded.items():
            if len(value) >= _SHORTEST_SECRET:
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
        root = compose(text)
        reader = _Reader(marked, expand)
        marked.value = reader.value_of(root) if root is not None else None
        marked._places = Places(root) if root is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        context = f"{error.context}, " if error.context else ""
        message = f"not YAML: {context}{error.problem}"
        _note(marked, line, column, "MW001", message, _yaml_hint(text, line))
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


def _yaml_hint(text: str, line: int) -> str:
    """The traps that people fall into, told by the line where the parser gave up."""
    said = (text.splitlines() or [""])[min(line, text.count("\n") + 1) - 1 :][:1]
    shown = said[0] if said else ""
    if "\t" in shown:
        return "indent with spaces, never with tabs"
    if "${" in shown and "{" in shown.replace("${", ""):
        return 'inside { } put quotes around it: "${VAR}"'
    return ""


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


class _Reader:
    """Nodes -> plain values, noting what is wrong on the way."""

    def __init__(self, marked: Marked, expand: Expand | None) -> None:
        self.marked = marked
        self.expand = expand
        self.resolver = Loader("")
        self.open: set[int] = set()
        self.made: dict[int, Any] = {}

    def value_of(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self.open:
            self._wrong(node, "MW004", "an alias that contains itself")
            return None
        if id(node) in self.made:
            return self.made[id(node)]
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                made: Any = [self.value_of(child) for child in node.value]
            else:
                made = self._mapping(node)
        finally:
            self.open.discard(id(node))
        # An alias shares its anchor's value, so that aliases of aliases cost nothing.
        self.made[id(node)] = made
        return made

    def _wrong(self, node: yaml.Node, code: str, message: str, hint: str = "") -> None:
        mark = node.start_mark
        _note(self.marked, mark.line + 1, mark.column + 1, code, message, hint)

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for name, value in node.value:
            if name.tag == TAG + "merge":
                sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for source in sources:
                    below = self.value_of(source)
                    if isinstance(below, dict):
                        merged = below | merged
                    else:
                        self._wrong(source, "MW004", "'<<' merges mappings only")
                continue
            if not isinstance(name, yaml.ScalarNode):
                self._wrong(name, "MW004", "a key must be a plain name")
                continue
            if name.value in made:
                self._wrong(name, "MW003", f"key '{name.value}' is repeated", "keep one of them")
                continue
            made[name.value] = self.value_of(value)
        return merged | made if merged else made

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        tag, text = node.tag, node.value
        if self.expand is not None and "$" in text:
            try:
                text = self.expand(text)
            except ExpandError as error:
                self._wrong(node, "MW005", str(error), error.hint)
                return node.value
            self.marked.expanded[text] = node.value
            if not node.style and text != node.value:
                tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))
        if tag == TAG + "str":
            return text
        if tag == TAG + "null":
            return None
        if tag == TAG + "bool":
            return text[0] in "tT"
        if tag == TAG + "int" and len(text) <= _LONGEST_NUMBER:
            return _integer(text)
        if tag == TAG + "float":
            return _float(text)
        what = "a number with too many digits"
        if tag != TAG + "int":
            what = f"tag '{node.tag}' is not supported"
        self._wrong(node, "MW004", what, "write a plain value")
        return None


def _integer(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _float(text: str) -> float:
    lowered = text.lower()
    return float(lowered.replace(".inf", "inf").replace(".nan", "nan"))

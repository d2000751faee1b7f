"""Secrets that stand in a config as they are, where `${VAR}` or `${file:...}` belongs.

They are found to be hidden in what is shown of the file, and to be told of by the audit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from engine.config import keys
from engine.source.problem import Path
from engine.source.reader import SourceDocument
from engine.values.caller import PREFIX
from engine.values.redaction import is_secret_name

_LINE = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", re.DOTALL)
_REST = re.compile(r"(?:[^\n]|\n[ \t]+(?=[^\s#-][^:\n]*(?:\n|$)))*")
_BLOCK = re.compile(r"[|>][^\n]*\n(?:[ \t]+[^\n]*(?:\n|$)|\n)*")
_USER = re.compile(r"://[^/@\s:]*:(?P<secret>(?:\$\{[^}]*\}|[^/@\s])+)@")
_DEFAULT = re.compile(r"\$\{[^}]*?:-(?P<secret>[^}]{16,})\}")
_BEARER = re.compile(r"\bbearer[\"']?[ \t]*:[ \t]*(?P<secret>(?!\$\{)[^\s,}]+)")
_MISPLACED = re.compile(r"^(credential|bearer|value|secret|password|.*key)$", re.IGNORECASE)
"""Keys under which people put a secret as it is, where none belongs."""
_PUBLIC = re.compile(r"(^|[-_.])(version|beta|organization|project|region)$", re.IGNORECASE)
"""Names of headers and parameters that go with a credential and are none: `api-version`."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A secret: where its value stands, and from which to which character of the text it goes."""

    path: Path
    start: int
    end: int


def literals(marked: SourceDocument) -> list[Literal]:
    """Every secret written out in a config, or in a file that it includes."""
    if not isinstance(marked.value, dict):
        found = [*_USER.finditer(marked.text), *_BEARER.finditer(marked.text)]
        return [Literal((), *match.span("secret")) for match in found]
    starts = [0, *(match.end() for match in _LINE.finditer(marked.text))]
    return [
        literal
        for path, value, is_url in secret_places(marked.value)
        for literal in _written(marked, path, value, is_url, starts)
    ]


def _written(
    marked: SourceDocument, path: Path, value: str, is_url: bool, starts: list[int]
) -> Iterator[Literal]:
    line, column = marked.place(path)
    at = starts[line - 1] + column - 1
    said = _raw(marked, value, at)
    inside = _USER.search(said) if is_url else None
    if inside is None and is_url:
        return
    start, end = inside.span("secret") if inside else (0, len(said))
    if "${" in said[start:end]:
        default = _DEFAULT.search(said, start, end)
        if default is None:
            return
        start, end = default.span("secret")
    elif not inside and said[:1] in "\"'":
        start, end = start + 1, end - 1
    yield Literal(path, at + start, at + end)


def _raw(marked: SourceDocument, value: str, at: int) -> str:
    """How a value is written: its text from `at` on, with quotes, before `${...}` is filled in."""
    plain = marked.expansions.get(value, value)
    if marked.text.startswith(plain, at):
        return plain
    match = _BLOCK.match(marked.text, at) or _QUOTED.match(marked.text, at)
    return match[0] if match else _REST.match(marked.text, at)[0]  # type: ignore[index]


def secret_places(value: dict[str, Any]) -> Iterator[tuple[Path, str, bool]]:
    """Strings that are secrets, or URLs (True) that may hold one, with their paths: what the
    annotation `secret` of their key says, and what stands under an unknown key named like one."""
    for path, below, key in keys.values(value, keys.root(), "secret"):
        kind = key.notes["secret"] if key is not None else "unknown"
        if kind == "headers":
            for name, text in below.items() if isinstance(below, dict) else ():
                if is_secret_name(name) and isinstance(text, str):
                    yield (*path, name), text, False
        elif isinstance(below, str) and _KINDS[kind](value, path, below):
            yield path, below, kind == "url"


def _is_unknown_secret(value: Any, path: Path, text: str) -> bool:
    is_token = path[0] == "tokens" and text.startswith(PREFIX)
    return is_token or _MISPLACED.search(str(path[-1])) is not None


def _is_named_secret(value: Any, path: Path, text: str) -> bool:
    """Whether the header or parameter beside a value is a secret, and no version or project."""
    for step in path[:-1]:
        value = value[step]
    name = value.get("header", value.get("query", ""))
    return not (isinstance(name, str) and _PUBLIC.search(name))


_KINDS: dict[str, Callable[[Any, Path, str], bool]] = {
    "value": lambda value, path, text: True,
    "url": lambda value, path, text: True,
    "token": lambda value, path, text: text.startswith(PREFIX),
    "named": _is_named_secret,
    "unknown": _is_unknown_secret,
}
"""Whether a text is a secret, by the annotation `secret` of its key: the text itself, a URL that
may hold a password, a token of ours by its beginning, a value that a name beside it describes."""

"""Secrets written literally in a config, instead of as `${VAR}` or `${file:...}`.

Excerpts of the file hide them, and the audit warns of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from engine.config import keys
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument
from engine.values.caller import PREFIX
from engine.values.redaction import is_secret_name
from engine.values.trees import Json, leaves, value_at

_LINE = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", re.DOTALL)
_PLAIN = re.compile(r"(?:[^\n]|\n[ \t]+(?=[^\s#-][^:\n]*(?:\n|$)))*")
_BLOCK = re.compile(r"[|>][^\n]*\n(?:[ \t]+[^\n]*(?:\n|$)|\n)*")
_USER = re.compile(r"://[^/@\s:]*:(?P<secret>(?:\$\{[^}]*\}|[^/@\s])+)@")
_DEFAULT = re.compile(r"\$\{[^}]*?:-(?P<secret>[^}]{16,})\}")
_NAME = re.compile(r"(?<![\w-])(?P<name>[\w-]+)[\"']?[ \t]*:[ \t]*(?=\S)")
"""A name with a value on the same line of a text that is not YAML."""
_MAPPING = re.compile(r"(?:\[[ \t]*)?\{[ \t]*[\"']?[\w-]+[\"']?[ \t]*:")
"""A mapping or a list of them: the value of a key such as `credential`, judged by its own names."""
_HOLDER = re.compile(r"^(credentials?|value|tokens)$", re.IGNORECASE)
_INDENT = re.compile(r"[ \t-]*")
_REFERENCE = re.compile(r"[\"']?(?:\w+ )?\$\{[^}:\n]*\}[\"']?[ \t]*(?=[,}\]#\n]|$)")
"""A value of which nothing but `${...}` can be secret."""
_MISPLACED = re.compile(r"^(credential|value)$", re.IGNORECASE)
"""Names of unknown keys that usually hold a secret, beside those of headers with one."""
_KEY = re.compile(
    r"(?:Bearer\s+)?(?:sk|pk|rk|gsk|hf|pplx|xai|xox[abp]|gh[pousr]|AIza|AKIA|mw)[-_A-Z0-9][-\w]{15,}",
    re.IGNORECASE,
)
"""The shape of vendors' API keys and of gateway tokens."""
_PUBLIC = re.compile(r"(^|[-_.])(version|beta|organization|project|region)$", re.IGNORECASE)
"""Names of headers and parameters whose values are not secret: `api-version`."""


class Literal(Struct, frozen=True):
    """A secret: the path of its value, and its span in the text of the file."""

    path: Path
    start: int
    end: int


def add_masked(document: SourceDocument, findings: Findings) -> None:
    """Add a file to the findings; their excerpts hide its literal secrets."""
    findings.add_source(document)
    spans = [(literal.start, literal.end) for literal in literals(document)]
    findings.mask(document.file, spans)


def literals(document: SourceDocument) -> list[Literal]:
    """Every secret written literally in a config or an included file."""
    if not isinstance(document.value, dict):
        return [Literal((), start, end) for start, end in _in_broken(document.text)]
    starts = [0, *(match.end() for match in _LINE.finditer(document.text))]
    return [
        literal
        for path, value, is_url in secret_places(document.value)
        for literal in _in_text(document, path, value, is_url, starts)
    ]


def _in_broken(text: str) -> Iterator[tuple[int, int]]:
    """The spans of what may be a secret in a text that is not YAML, by names and shapes alone."""
    hidden = 0  # up to where
    for match in _NAME.finditer(text):
        name, start = match["name"], match.end()
        if start <= hidden or not _names_secret(name) or _REFERENCE.match(text, start):
            continue
        if not (_HOLDER.search(name) and _MAPPING.match(text, start)):
            hidden = _end_of_value(text, match)
            yield start, hidden
    yield from (match.span("secret") for match in _USER.finditer(text))
    yield from (match.span() for match in _KEY.finditer(text))


def _end_of_value(text: str, name: re.Match[str]) -> int:
    """The end of what may belong to the value behind a name: its line, and the lines below that are
    indented by more."""
    line = text.rfind("\n", 0, name.start()) + 1
    indent = len(_INDENT.match(text, line)[0])  # type: ignore[index]
    end = _end_of_line(text, name.end())
    while end < len(text):
        below = text[end + 1 : _end_of_line(text, end + 1)]
        if below.strip() and len(below) - len(below.lstrip()) <= indent:
            break
        end += 1 + len(below)
    return end


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _in_text(
    document: SourceDocument, path: Path, value: str, is_url: bool, starts: list[int]
) -> Iterator[Literal]:
    line, column = document.place(path)
    at = starts[line - 1] + column - 1
    raw = _raw(document, value, at)
    inside = _USER.search(raw) if is_url else None
    if inside is None and is_url:
        return
    start, end = inside.span("secret") if inside else (0, len(raw))
    if "${" in raw[start:end]:
        default = _DEFAULT.search(raw, start, end)
        if default is None:
            return
        start, end = default.span("secret")
    elif not inside and raw[:1] in "\"'":
        start, end = start + 1, end - 1
    yield Literal(path, at + start, at + end)


def _raw(document: SourceDocument, value: str, at: int) -> str:
    """The text of the value at index `at` of the file, with its quotes and `${...}`."""
    plain = document.expansions.get(value, value)
    if document.text.startswith(plain, at):
        return plain
    match = _BLOCK.match(document.text, at) or _QUOTED.match(document.text, at)
    return match[0] if match else _PLAIN.match(document.text, at)[0]  # type: ignore[index]


def secret_places(value: Json) -> Iterator[tuple[Path, str, bool]]:
    """The path and text of each secret, and True for a URL that may contain one: the values of keys
    with the annotation `secret`, values of headers and bodies with the name or the shape of a
    secret, and values of unknown keys with the name of one."""
    for path, entry, key in keys.values(value, keys.root(), "secret"):
        kind = key.notes["secret"] if key is not None else "unknown"
        if kind == "headers":
            for name, text in entry.items() if isinstance(entry, dict) else ():
                if isinstance(text, str) and (is_secret_name(name) or _KEY.fullmatch(text)):
                    yield (*path, name), text, False
        elif kind == "shape":
            texts = _texts(entry, path)
            yield from ((at, text, False) for at, text in texts if _KEY.fullmatch(text))
        elif kind == "unknown":
            for at, text in _texts(entry, path):
                yield at, text, not _is_unknown_secret(at, text)
        elif isinstance(entry, str) and _KINDS[kind](value, path, entry):
            yield path, entry, kind == "url"


def _texts(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """The strings in a value, with their paths."""
    return ((at, leaf) for at, leaf in leaves(value, path) if isinstance(leaf, str))


def _is_unknown_secret(path: Path, text: str) -> bool:
    is_token = path[0] == "tokens" and text.startswith(PREFIX)
    return is_token or _KEY.fullmatch(text) is not None or _names_secret(str(path[-1]))


def _names_secret(name: str) -> bool:
    """Whether an unknown key is named like one that holds a secret."""
    return is_secret_name(name) or _MISPLACED.search(name) is not None


def _is_named_secret(value: Any, path: Path, text: str) -> bool:
    """Whether the header or parameter with this value is secret: not a version or project."""
    holder = value_at(value, path[:-1])
    name = holder.get("header", holder.get("query", ""))
    return not (isinstance(name, str) and _PUBLIC.search(name))


_KINDS: dict[str, Callable[[Any, Path, str], bool]] = {
    "value": lambda value, path, text: True,
    "url": lambda value, path, text: True,
    "token": lambda value, path, text: text.startswith(PREFIX),
    "named": _is_named_secret,
}
"""Whether a text is a secret, by the annotation `secret` of its key: any value, a URL that may hold
a password, a gateway token by its prefix, a value by the name of its header or parameter."""

"""Secrets that stand in a config as they are, where `${VAR}` or `${file:...}` belongs.

They are found to be hidden in what is shown of the file, and to be told of by the audit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
    """Strings that are secrets, or URLs (True) that may hold one, with their paths."""
    for name, upstream in _mapping(value.get("upstreams")).items():
        at: Path = ("upstreams", name)
        said = _mapping(upstream)
        ways: list[tuple[Path, Any]] = [(("credential",), said.get("credential"))]
        listed = said.get("credentials")
        ways += [
            (("credentials", index), one)
            for index, one in enumerate(listed if isinstance(listed, list) else ())
        ]
        for key, text in said.items():
            if _MISPLACED.search(key) and isinstance(text, str):
                yield (*at, key), text, False
        for below, credential in ways:
            yield from _of_credential(_mapping(credential), (*at, *below))
        for kind in ("set", "add"):
            headers = _mapping(said.get("headers")).get(kind)
            yield from _of_headers(headers, (*at, "headers", kind))
        for key in ("url", "proxy"):
            if isinstance(url := said.get(key), str):
                yield (*at, key), url, True
    tokens = value.get("tokens")
    for index, token in enumerate(tokens if isinstance(tokens, list) else ()):
        for key, text in _mapping(token).items():
            if isinstance(text, str) and (text.startswith(PREFIX) or _MISPLACED.search(key)):
                yield ("tokens", index, key), text, False
    traces = _mapping(_mapping(value.get("telemetry")).get("traces"))
    yield from _of_headers(traces.get("headers"), ("telemetry", "traces", "headers"))
    stores = _mapping(value.get("stores"))
    for key in ("records", "counters"):
        if isinstance(url := stores.get(key), str):
            yield ("stores", key), url, True


def _of_credential(said: dict[str, Any], at: Path) -> Iterator[tuple[Path, str, bool]]:
    name = said.get("header", said.get("query", ""))
    public = isinstance(name, str) and _PUBLIC.search(name)
    for key in ("bearer",) if public else ("bearer", "value"):
        if isinstance(secret := said.get(key), str):
            yield (*at, key), secret, False


def _of_headers(said: Any, at: Path) -> Iterator[tuple[Path, str, bool]]:
    for header, text in _mapping(said).items():
        if is_secret_name(header) and isinstance(text, str):
            yield (*at, header), text, False


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}

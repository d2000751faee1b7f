"""The effective config: gateway.yaml with its included files and overlays as one file, with the
origin of each value and without secrets.


It can be loaded from the folder of gateway.yaml: paths are relative to that folder, `${...}` is not
replaced, and a literal secret is `***`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.config import keys
from engine.config.literal_secrets import secret_places
from engine.config.stores import SQLITE
from engine.source.problem import Path, Place, place_of
from engine.source.reader import SourceDocument
from engine.source.yaml_text import scalar, string
from engine.values.json_pointer import pointer
from engine.values.trees import Json, Section, leaves, map_leaves

MASK = "***"

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|key) +(?=\S)", re.IGNORECASE)
_PASSWORD = re.compile(r"(://[^/@\s:]*:)((?:\$\{[^}]*\}|[^/@\s])+)(?=@)")


class EffectiveConfig:
    """The effective config of a document, whose value is a mapping. `comments` are lines to print
    after the entries of mappings, by path."""

    def __init__(
        self, document: SourceDocument, comments: Mapping[Path, Sequence[str]] | None = None
    ) -> None:
        self._document = document
        self._comments = comments or {}
        self._folder = os.path.dirname(document.file)
        self.value: Section = {k: v for k, v in document.value.items() if k != "include"}
        self._secrets = {path: is_url for path, _, is_url in secret_places(document.value)}
        self._paths = {path for path, _, _ in keys.values(document.value, keys.root(), "path")}

    def yaml(self) -> str:
        """The config as block YAML, with a comment `# file:line` after each value."""
        return "".join(f"{line}\n" for line in self._lines(self.value, ()))

    def json(self) -> Json:
        """`config`, with the values of `yaml`, and `origins`: `file:line:column` by JSON
        pointer."""
        origins = {
            pointer(map(str, path)): str(self._place(path))
            for path, _ in leaves(self.value)
            if path
        }
        return {"config": map_leaves(self.value, self._displayed), "origins": origins}

    def _displayed(self, at: Path, value: object) -> object:
        text = self._text(value, at)
        return value if text is None else text

    def _text(self, value: object, at: Path) -> str | None:
        """The text to print for a value with `${...}` or a secret; None for any other."""
        reference = self._document.reference(at)
        if reference:
            reference = self._rebased(reference, value, at)
        if at in self._secrets and isinstance(value, str):
            text = reference or value.replace("${", "$${")
            if self._secrets[at]:
                masked = _PASSWORD.sub(lambda m: m[1] + _masked(m[2]), text)
                return masked if reference or masked != text else None
            return _masked(text)
        return reference or None

    def _rebased(self, reference: str, value: object, at: Path) -> str:
        """A text with `${...}` from a file in another folder, with its paths relative to the folder
        of gateway.yaml."""
        folder = os.path.relpath(os.path.dirname(self._place(at).file) or ".", self._folder or ".")
        if folder == ".":
            return reference
        name = str(value).removeprefix(SQLITE)
        if at in self._paths and not os.path.isabs(name) and "://" not in name:
            scheme = SQLITE if reference.startswith(SQLITE) else ""
            reference = scheme + os.path.join(folder, reference.removeprefix(scheme))

        def rebase(match: re.Match[str]) -> str:
            inside = match[1] or ""
            if not inside.startswith("file:"):
                return match[0]
            return f"${{file:{os.path.join(folder, inside.removeprefix('file:'))}}}"

        return _REFERENCE.sub(rebase, reference)

    def _place(self, path: Path) -> Place:
        return place_of(self._document, path)

    def _lines(self, value: object, at: Path) -> Iterator[str]:
        """The lines of a non-empty mapping or list, without indentation."""
        for step, below in _entries(value):
            path = (*at, step)
            head = "-" if isinstance(value, list) else f"{string(step)}:"
            if not isinstance(below, dict | list) or not below:
                place = self._place(path)
                yield f"{head} {self._scalar(below, path)}  # {place.file}:{place.line}"
                continue
            lines = self._lines(below, path)
            if isinstance(value, list):
                yield f"- {next(lines)}"
            else:
                yield head
            yield from (f"  {line}" for line in lines)
            yield from (f"  # {line}" for line in self._comments.get(path, ()))

    def _scalar(self, value: object, at: Path) -> str:
        if isinstance(value, dict | list):
            return "{}" if isinstance(value, dict) else "[]"
        text = self._text(value, at)
        if isinstance(value, str):
            return string(value if text is None else text)
        return scalar(value) if text is None else text  # unquoted, as in its file: a number


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    return iter(value.items()) if isinstance(value, dict) else iter(enumerate(value))


def _masked(text: str) -> str:
    """A masked secret: `${...}` without defaults, a scheme such as `Bearer`, and `***` for the
    rest.
    """
    scheme = match[0] if (match := _SCHEME.match(text)) else ""
    parts, end = [scheme], len(scheme)
    for match in _REFERENCE.finditer(text, end):
        if match[1] is None:
            continue
        parts += [MASK if match.start() > end else "", _without_default(match[1])]
        end = match.end()
    parts.append(MASK if end < len(text) else "")
    return "".join(parts)


def _without_default(inside: str) -> str:
    name, mark, default = inside.partition(":-")
    return f"${{{name}{mark}{MASK if default else ''}}}"

"""Breaches of the OpenAPI standard in a document, by the standard's JSON Schema.

A breach is a warning: half of the vendors' documents have some, and `unreadable_parts.py` removes
what the engine cannot read. Only `modelway check` looks for them. The schema is the copy in
openapi-spec-validator, whose own validator would take a thousand times as long (eleven seconds for
GitHub's document).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

import jsonschema_rs

from engine.source.problem import Findings, Level, Path, place_of
from engine.spec.document import overlay
from engine.spec.document.checks.unusable_values import (
    HALF_CHARACTER,
    TOO_DEEP,
    deep_places,
    half_characters,
)
from engine.spec.document.node import Library
from engine.spec.document.path_items import declared_parameters, operations_of
from engine.spec.document.path_keys import read
from engine.spec.document.path_templates import variables

_MAX_FINDINGS = 50
_MAX_LENGTH = 200
_OF_SCHEMAS = frozenset({"type", "enum", "minimum", "maximum", "format", "pattern", "items"})
"""Keywords that stand beside a parameter's name in Swagger 2.0, and within its schema since."""


def breaches(library: Library, findings: Findings) -> None:
    """Note every breach, at most fifty."""
    plain = library.unpacked()
    source = _unconverted(library) if library.is_20 else library
    value = (source if library.is_20 else plain).files[library.root].value
    count = 0
    try:
        for error in islice(_validator(_version(plain)).iter_errors(value), _MAX_FINDINGS):
            _note_error(source, _innermost(error), findings)
            count += 1
    except UnicodeEncodeError:
        _note(source, next(half_characters(value), ()), HALF_CHARACTER[0], findings)
    except ValueError:  # as in `unreadable_parts.remove`
        _note(source, next(deep_places(value), ()), TOO_DEEP[0], findings)
    for path, words in islice(_undeclared(plain), _MAX_FINDINGS - count):
        _note(library, path, words, findings)


def _unconverted(library: Library) -> Library:
    """A document of Swagger 2.0 as its authors wrote it, with its overlays; its references are not
    followed."""
    files = Library(library.root)
    files.open(library.root, library.files[library.root].file)
    for file, marked in library.overlays.items():
        overlay.apply(files, file, marked.file, Findings())
    return files


def _version(library: Library) -> str:
    """The folder of the standard's schema."""
    return "v2.0" if library.is_20 else f"v{library.document.text('openapi')[:3]}"


def _note_error(library: Library, error: Any, findings: Findings) -> None:
    """Note a breach, at an unknown key if it is one, unless another finding is at its place or key:
    a repair says more of the same value."""
    path: Path = tuple(error.instance_path)
    unknown = _unknown_keys(error)
    at = (*path, unknown[0]) if unknown else path
    source = library.source(library.root, at)
    places = {place_of(source, at, key=key) for key in (True, bool(unknown))}
    if not any((p.file, p.line, p.column) in places for p in findings.unsorted):
        _note(library, at, _message(error), findings, _hint(error, path), key=bool(unknown))


def _note(
    library: Library,
    path: Path,
    words: str,
    findings: Findings,
    hint: str = "",
    *,
    key: bool = False,
) -> None:
    message = f"breaks the OpenAPI standard: {words}"
    source = library.source(library.root, path)
    findings.note(source, path, Level.WARNING, "MW220", message, hint, key=key)


def _unknown_keys(error: Any) -> list[str]:
    is_of_keys = error.kind.name in ("additionalProperties", "unevaluatedProperties")
    return list(error.kind.as_dict().get("unexpected", ())) if is_of_keys else []


def _hint(error: Any, path: Path) -> str:
    """The hint for a breach that is common, "" for others."""
    names = [name for name in _unknown_keys(error) if name in _OF_SCHEMAS]
    if names and path[-2:-1] == ("parameters",):
        return f"write it within 'schema': schema: {{{names[0]}: ...}}"
    if path[-1:] == ("type",) and error.kind.name == "type":
        return "3.0 has one type: write nullable: true for null, anyOf for several types"
    return ""


def _innermost(error: Any) -> Any:
    """The error of the branches of `anyOf` and `oneOf` that is deepest in the value; of branches
    for values of another kind only if all are."""
    while error.kind.name in ("anyOf", "oneOf"):
        branches = [branch for branch in error.kind.as_dict()["context"] if branch]
        if not branches:
            break
        candidates = [
            branch for branch in branches if not any(map(_is_of_kind, branch))
        ] or branches
        errors = [error for branch in candidates for error in branch]
        error = max(errors, key=lambda each: len(each.instance_path))
    return error


def _is_of_kind(error: Any) -> bool:
    """Whether a member has another value than the only one that it may have."""
    details = error.kind.as_dict()
    return error.kind.name == "const" or len(details.get("options", "ab")) == 1


def _message(error: Any) -> str:
    """The validator's message without the value, which may be most of a document."""
    details = {k: v for k, v in error.kind.as_dict().items() if k not in ("name", "context")}
    lists = [value if isinstance(value, list) else [value] for value in details.values()]
    values = ", ".join(str(item) for items in lists for item in items if not isinstance(item, dict))
    where = f"'{error.instance_path[-1]}'" if error.instance_path else "the document"
    words = f"{where} breaks '{error.kind.name}'{f' ({values})' if values else ''}"
    return " ".join(words.split())[:_MAX_LENGTH]


def _undeclared(library: Library) -> Any:
    """The path of each operation with an undeclared path variable, and a message."""
    for key, item in library.document.get("paths").items():
        names = variables(read(key).template)
        for at, operation in operations_of(item) if names else ():
            parameters = declared_parameters(item, operation)
            declared = {p.text("name") for p in parameters if p.text("in") == "path"}
            for name in names:
                if name not in declared:
                    yield ("paths", key, *at), f"no parameter declares '{name}' of the path"


@cache
def _validator(version: str) -> Any:
    # Read only the file: importing the package would take longer than checking a config.
    package = find_spec("openapi_spec_validator")
    assert package is not None
    assert package.origin is not None
    folder = FilePath(package.origin).parent / "resources" / "schemas"
    text = (folder / version / "schema.json").read_text(encoding="utf-8")
    is_old = version in ("v2.0", "v3.0")
    kind = jsonschema_rs.Draft4Validator if is_old else jsonschema_rs.Draft202012Validator
    return kind(json.loads(text), offline=True)

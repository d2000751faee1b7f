"""Breaches of the OpenAPI standard in a document, by the standard's JSON Schema.

A breach is a warning: half of the vendors' documents have some, and `structure.py` checks what the
engine relies on. Only `modelway check` looks for them. The schema is the copy in
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

from engine.source.problem import Findings, Level, Path
from engine.spec.document.node import METHODS, Library, declared_parameters
from engine.spec.document.repairs.path_keys import read
from engine.spec.document.structure import (
    HALF_CHARACTER,
    TOO_DEEP,
    deep_places,
    half_characters,
)
from engine.spec.path_templates import variables

_MOST = 50
_LONGEST = 200


def breaches(library: Library, findings: Findings) -> None:
    """Note every breach, at most fifty."""
    plain = library.unpacked()
    value, count = plain.document.value, 0
    try:
        for error in islice(_validator(plain.is_30).iter_errors(value), _MOST):
            _note(library, tuple(error.instance_path), _message(error), findings)
            count += 1
    except UnicodeEncodeError:
        _note(library, next(half_characters(value), ()), HALF_CHARACTER[0], findings)
    except ValueError:  # as in `structure.check`
        _note(library, next(deep_places(value), ()), TOO_DEEP[0], findings)
    for path, words in islice(_undeclared(plain), _MOST - count):
        _note(library, path, words, findings)


def _note(library: Library, path: Path, words: str, findings: Findings) -> None:
    message = f"breaks the OpenAPI standard: {words}"
    source = library.source(library.root, path)
    findings.note(source, path, Level.WARNING, "MW220", message)


def _message(error: Any) -> str:
    """The validator's message without the value, which may be most of a document."""
    while error.kind.name in ("anyOf", "oneOf"):
        branch_errors = [e for branch in error.kind.as_dict()["context"] for e in branch]
        if not branch_errors:
            break
        error = max(branch_errors, key=lambda e: len(e.instance_path))
    details = {k: v for k, v in error.kind.as_dict().items() if k not in ("name", "context")}
    lists = [value if isinstance(value, list) else [value] for value in details.values()]
    values = ", ".join(str(item) for items in lists for item in items if not isinstance(item, dict))
    where = f"'{error.instance_path[-1]}'" if error.instance_path else "the document"
    words = f"{where} breaks '{error.kind.name}'{f' ({values})' if values else ''}"
    return " ".join(words.split())[:_LONGEST]


def _undeclared(library: Library) -> Any:
    """The path of each operation with an undeclared path variable, and a message."""
    for key, item in library.document.get("paths").items():
        names = variables(read(key).template)
        for method in METHODS if names else ():
            operation = item.get(method)
            if operation.value is None:
                continue
            parameters = declared_parameters(item, operation)
            declared = {p.text("name") for p in parameters if p.text("in") == "path"}
            for name in names:
                if name not in declared:
                    yield ("paths", key, method), f"no parameter declares '{name}' of the path"


@cache
def _validator(is_30: bool) -> Any:
    # Read only the file: importing the package would take longer than checking a config.
    package = find_spec("openapi_spec_validator")
    assert package is not None
    assert package.origin is not None
    folder = FilePath(package.origin).parent / "resources" / "schemas"
    text = (folder / ("v3.0" if is_30 else "v3.1") / "schema.json").read_text(encoding="utf-8")
    kind = jsonschema_rs.Draft4Validator if is_30 else jsonschema_rs.Draft202012Validator
    return kind(json.loads(text), offline=True)

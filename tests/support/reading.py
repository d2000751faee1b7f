"""Values and problems of YAML texts, by the reader."""

from __future__ import annotations

from typing import Any

from engine.source.reader import read
from engine.source.values import Expand, ExpandError

VARIABLES = {"${A}": "filled", "${N}": "7", "${T}": "true", "${E}": "", "${NL}": "a: b\n- c"}


def value_of(text: str, expand: Expand | None = None) -> Any:
    """The value of a text without problems."""
    document = read(text, "file.yaml", expand)
    assert document.problems == []
    return document.value


def problems_of(text: str, expand: Expand | None = None) -> list[tuple[int, int, str, str]]:
    """Line, column, code and message of each problem."""
    return [(p.line, p.column, p.code, p.message) for p in read(text, "f", expand).problems]


def expand_variables(text: str) -> str:
    """Fill in VARIABLES; any other name is an error."""
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    if "${" in text:
        raise ExpandError("not set", "set it")
    return text

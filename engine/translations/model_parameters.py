"""Which parameters a vendor's models accept: `parameters` in the files of `engine/providers`, with
the source of each fact. They hold for the names of these models at any upstream."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.source import files
from engine.source.reader import read
from engine.values.wildcard import ByName

Tables = Mapping[str, ByName[Any]]
"""What models take, by parameter: a text, a number, or a tuple of texts."""


@cache
def parameters(provider: str) -> Tables:
    """The tables in the file of a provider. It is read once: a few milliseconds."""
    path = files.PROVIDERS / f"{provider}.yaml"
    document = read(path.read_text("utf-8"), str(path)).value
    return {name: _table(rows) for name, rows in document["parameters"].items()}


def _table(rows: list[dict[str, Any]]) -> ByName[Any]:
    values = {}
    for row in rows:
        takes = row["takes"]
        takes = tuple(takes) if isinstance(takes, list) else takes
        values.update(dict.fromkeys(row["models"], takes))
    return ByName(values)

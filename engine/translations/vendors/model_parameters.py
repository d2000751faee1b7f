"""Which parameters a vendor's models accept: `parameters` in the files of `engine/providers`, with
the source of each fact. They hold for the names of these models at any upstream."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec

from engine.source import files
from engine.source.reader import read
from engine.values.trees import Json
from engine.values.wildcard import ByName

_M = TypeVar("_M")
_Rows = list[Json]

Tables = Mapping[str, ByName[Any]]
"""What models take, by parameter: a text, a number, or a tuple of texts."""


@cache
def parameters(provider: str) -> Tables:
    return {
        name: ByName({o: tuple(t) if isinstance(t, list) else t for o, t in _takes(rows).items()})
        for name, rows in facts(provider).items()
    }


@cache
def models(provider: str, kind: type[_M]) -> ByName[_M]:
    """All that the models of a provider accept, each as a value of this kind."""
    takes = _takes(facts(provider)["models"])
    return ByName({name: msgspec.convert(each, kind) for name, each in takes.items()})


@cache
def facts(provider: str) -> dict[str, _Rows]:
    """The rows of each table in the file of a provider. It is read once: some milliseconds."""
    path = files.PROVIDERS / f"{provider}.yaml"
    document: dict[str, _Rows] = read(path.read_text("utf-8"), str(path)).value["parameters"]
    return document


def _takes(rows: _Rows) -> Json:
    """What each model takes, by its name."""
    return {name: row["takes"] for row in rows for name in row["models"]}

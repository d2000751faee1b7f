"""Errors and lists of models, in the form of a dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine import dialects
from engine.dialects import ModelCard, ModelList
from engine.values.errors import GatewayError

CARDS = [ModelCard(f"org/m{n}:x", f"Model {n}", "me", 1_700_000_000 + n) for n in range(60)]


def error(status: int = 400, **more: Any) -> GatewayError:
    return GatewayError(status, "some_code", "What went wrong.", **more)


def error_of(name: str, status: int) -> dict[str, Any]:
    """The error object of a dialect for a status."""
    return dialects.get(name).error(error(status), "req_1")


def listed(name: str, cards: Sequence[ModelCard] = CARDS, **parameters: str) -> dict[str, Any]:
    """The page of a list of models that a query asks for."""
    dialect = dialects.get(name)
    documents = [dialect.model(card) for card in cards]
    return dialect.models(ModelList([card.name for card in cards], documents), parameters)


def ids(document: dict[str, Any]) -> list[str]:
    return [model["id"] for model in document["data"]]


def names(first: int, last: int) -> list[str]:
    """The names of a range of CARDS."""
    return [f"org/m{n}:x" for n in range(first, last)]

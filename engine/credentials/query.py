"""`credential: {query: NAME, value: KEY}`: a parameter of the query string."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.credentials.interface.context import Context
from engine.credentials.interface.fixed import VALUE, QueryCredential

FORM = "{query: name, value: ...}"

SCHEMA: dict[str, Any] = {
    "description": "Name of a query parameter that contains it.",
    "type": "string",
    "minLength": 1,
}

MORE_KEYS = VALUE


def read(section: Mapping[str, Any], context: Context) -> QueryCredential:
    return QueryCredential("query", section["query"], context.text(section["value"]))

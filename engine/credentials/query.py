"""`credential: {query: NAME, value: KEY}`: a parameter of the query string."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.credentials.interface.context import Context
from engine.credentials.interface.credential_kind import CredentialKind
from engine.credentials.interface.fixed import VALUE, QueryCredential

_SCHEMA: dict[str, Any] = {
    "description": "Name of a query parameter that contains it.",
    "type": "string",
    "minLength": 1,
}


def _read(section: Mapping[str, Any], context: Context) -> QueryCredential:
    return QueryCredential("query", section["query"], context.text(section["value"]))


CREDENTIAL = CredentialKind(
    form="{query: name, value: ...}",
    schema=_SCHEMA,
    read=_read,
    more_keys=VALUE,
)

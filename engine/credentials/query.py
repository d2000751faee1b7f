"""`credential: {query: NAME, value: KEY}`: a parameter of the query string."""

from __future__ import annotations

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fixed import VALUE, QueryCredential
from engine.values.trees import Json, Section

_SCHEMA: Json = {
    "description": "Name of a query parameter that contains it.",
    "type": "string",
    "minLength": 1,
}


def _read(section: Section, context: Context) -> QueryCredential:
    return QueryCredential("query", section["query"], context.text(section["value"]))


CREDENTIAL = CredentialKind(
    form="{query: name, value: ...}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
    more_keys=VALUE,
)

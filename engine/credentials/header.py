"""`credential: {header: NAME, value: KEY}`: a header."""

from __future__ import annotations

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fixed import VALUE, HeaderCredential
from engine.values.http_names import HEADER_NAME
from engine.values.trees import Json, Section

_RESERVED_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"}
)

_SCHEMA: Json = {
    "description": "Name of a header that contains it.",
    "type": "string",
    "minLength": 1,
    "pattern": f"^{HEADER_NAME}$",
    "x-modelway": {"format": "header name"},
}


def _read(section: Section, context: Context) -> HeaderCredential:
    name: str = section["header"]
    if name.lower() in _RESERVED_HEADERS:
        context.error(("header",), f"header '{name}' cannot hold a credential")
    return HeaderCredential("header", name.lower(), context.text(section["value"]))


CREDENTIAL = CredentialKind(
    form="{header: name, value: ...}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
    more_keys=VALUE,
)

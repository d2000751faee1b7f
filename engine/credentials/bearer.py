"""`credential: {bearer: KEY}`: sent as `Authorization: Bearer KEY`."""

from __future__ import annotations

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fixed import HeaderCredential
from engine.values.trees import Json, Section

_SCHEMA: Json = {
    "description": "Sent as Authorization: Bearer ...",
    "type": "string",
    "minLength": 1,
    "x-modelway": {"secret": "value"},
}


def _read(section: Section, context: Context) -> HeaderCredential:
    key: str = section["bearer"]
    if key.lower().startswith("bearer "):
        message = "the gateway writes 'Bearer' before a bearer credential itself"
        context.error(("bearer",), message, "write the key alone")
    return HeaderCredential("bearer", "authorization", f"Bearer {context.text(key)}")


CREDENTIAL = CredentialKind(
    form="{bearer: ...}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
)

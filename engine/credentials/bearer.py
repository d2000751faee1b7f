"""`credential: {bearer: KEY}`: sent as `Authorization: Bearer KEY`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.credentials.interface.context import Context
from engine.credentials.interface.credential_kind import CredentialKind
from engine.credentials.interface.fixed import HeaderCredential

_SCHEMA: dict[str, Any] = {
    "description": "Sent as Authorization: Bearer ...",
    "type": "string",
    "minLength": 1,
    "x-modelway": {"secret": "value"},
}


def _read(section: Mapping[str, Any], context: Context) -> HeaderCredential:
    key: str = section["bearer"]
    if key.lower().startswith("bearer "):
        message = "the gateway writes 'Bearer' before a bearer credential itself"
        context.error(("bearer",), message, "write the key alone")
    return HeaderCredential("bearer", "authorization", f"Bearer {context.text(key)}")


CREDENTIAL = CredentialKind(
    form="{bearer: ...}",
    schema=_SCHEMA,
    read=_read,
)

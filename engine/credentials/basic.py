"""`credential: {basic: {user: NAME, password: KEY}}`: Basic authentication (RFC 7617)."""

from __future__ import annotations

import base64

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fixed import HeaderCredential
from engine.values.trees import Json, Section

_SCHEMA: Json = {
    "description": "Sent as Authorization: Basic ...",
    "type": "object",
    "additionalProperties": False,
    "required": ["user", "password"],
    "properties": {
        "user": {"description": "The name of the user; it has no colon.", "type": "string"},
        "password": {
            "description": "The password of the user.",
            "type": "string",
            "x-modelway": {"secret": "value"},
        },
    },
}


def _read(section: Section, context: Context) -> HeaderCredential:
    user, password = section["basic"]["user"], section["basic"]["password"]
    if ":" in user:
        context.error(("basic", "user"), f"'{user}' has a colon, which ends the name of a user")
    pair = f"{user}:{password}"
    if not pair.isprintable():
        context.error(("basic",), "a credential holds no control characters")
    value = base64.b64encode(pair.encode()).decode()
    return HeaderCredential("basic", "authorization", f"Basic {value}")


CREDENTIAL = CredentialKind(
    form="{basic: {user: ..., password: ...}}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
)

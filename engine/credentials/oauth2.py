"""`credential: {oauth2: {token_url: ..., client: ..., secret: ...}}`: client credentials of OAuth
2.0 (RFC 6749 section 4.4). The token is sent as `Authorization: Bearer`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fetched import FetchedCredential
from engine.values.trees import Json, Section

_METHOD = "basic"

_SCHEMA: Json = {
    "description": "A token of OAuth 2.0 for the gateway itself (client credentials), fetched and "
    "renewed.",
    "type": "object",
    "additionalProperties": False,
    "required": ["token_url", "client", "secret"],
    "properties": {
        "token_url": {
            "description": "The URL of the token endpoint.",
            "type": "string",
            "pattern": r"^https?://\S+$",
            "x-modelway": {"secret": "url", "format": "url"},
            "examples": ["https://login.example.com/oauth2/token"],
        },
        "client": {"description": "The id of the client.", "type": "string", "minLength": 1},
        "secret": {
            "description": "The secret of the client.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"secret": "value"},
        },
        "scope": {"description": "Scopes, separated by spaces.", "type": "string", "minLength": 1},
        "audience": {"description": "The audience of the token.", "type": "string", "minLength": 1},
        "method": {
            "description": "How the secret is sent: as Basic authentication, or in the body.",
            "type": "string",
            "enum": ["basic", "body"],
            "default": _METHOD,
        },
        "ca": {
            "description": "File of the certificate authorities to trust, in PEM. Absent: those of "
            "the system.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"path": True},
        },
    },
}


def _read(section: Section, context: Context) -> FetchedCredential:
    options = {"method": _METHOD, **section["oauth2"]}
    if "ca" in options:
        options["ca"] = str(context.file(options["ca"], ("oauth2", "ca")))
    host = ""
    try:
        url = urlsplit(options["token_url"])
        host = url.hostname or ""
        _ = url.port
    except ValueError as error:
        context.error(("oauth2", "token_url"), f"this is not a URL: {error}", code="MW104")
    label = f"oauth2 client {options['client']} at {host}"
    address = options["token_url"]
    return FetchedCredential("oauth2", label, options, (options["secret"],), secrets_go_to=address)


CREDENTIAL = CredentialKind(
    form="{oauth2: {token_url: ..., client: ..., secret: ...}}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
)

"""`credential: {azure: {tenant: ..., client: ..., secret: ...}}`: a token of Microsoft Entra ID.

With `secret` or `certificate` it is the token of an application, with `token_file` that of a
workload identity. Without them the first of AZURE_CLIENT_SECRET, AZURE_CLIENT_CERTIFICATE_PATH and
AZURE_FEDERATED_TOKEN_FILE that is set is used, else the managed identity of the machine (with
`client`, the one of that id).
"""

from __future__ import annotations

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fetched import FetchedCredential
from engine.values.trees import Json, Section

_SCOPE = "https://cognitiveservices.azure.com/.default"
_PROOFS = ("secret", "certificate", "token_file")

_SCHEMA: Json = {
    "description": "An access token of Microsoft Entra ID, fetched and renewed. {} uses the "
    "credentials of the environment, or the managed identity.",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "tenant": {"description": "The id of the tenant.", "type": "string", "minLength": 1},
        "client": {
            "description": "The client id of an application, or of a managed identity.",
            "type": "string",
            "minLength": 1,
        },
        "secret": {
            "description": "The application's secret.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"secret": "value"},
        },
        "certificate": {
            "description": "File of the application's certificate and its key, in PEM.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"path": True},
        },
        "token_file": {
            "description": "File of the workload's token, as Kubernetes mounts it.",
            "type": "string",
            "minLength": 1,
            "x-modelway": {"path": True},
        },
        "scope": {
            "description": "The scope of the token.",
            "type": "string",
            "minLength": 1,
            "default": _SCOPE,
        },
        "authority": {
            "description": "The address of Microsoft Entra ID, for other clouds.",
            "type": "string",
            "pattern": r"^https://\S+$",
            "x-modelway": {"secret": "url", "format": "url"},
            "examples": ["https://login.microsoftonline.us"],
        },
    },
}


def _read(section: Section, context: Context) -> FetchedCredential:
    options = {"scope": _SCOPE, **section["azure"]}
    context.needs_extra("azure", "azure.identity", ("azure",))
    proofs = [name for name in _PROOFS if name in options]
    if len(proofs) > 1:
        message = f"'{proofs[0]}' and '{proofs[1]}' together"
        context.error(("azure", proofs[1]), message, "keep one")
    for name in ("tenant", "client"):
        if proofs and name not in options:
            context.error(("azure",), f"'{proofs[0]}' without '{name}'", f"add {name}: ...")
    if not proofs and "tenant" in options:
        message = "'tenant' without a secret, certificate or token_file"
        context.error(("azure", "tenant"), message, f"add one of {', '.join(_PROOFS)}")
    for name in ("certificate", "token_file"):
        if name in options:
            options[name] = str(context.file(options[name], ("azure", name)))
    client = options.get("client")
    label = f"azure client {client}" if client else "azure environment or managed identity"
    secrets = (options["secret"],) if "secret" in options else ()
    return FetchedCredential("azure", label, options, secrets)


CREDENTIAL = CredentialKind(
    form="{azure: {tenant: ..., client: ..., secret: ...}}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
)

"""`credential: {google: {file: ...}}`: an access token of Google Cloud.

`file` is the key of a service account, or the configuration of a workload identity. Without it,
Application Default Credentials are used: the file that GOOGLE_APPLICATION_CREDENTIALS names, that
of gcloud, or the metadata server of the machine.
"""

from __future__ import annotations

import json
from os.path import isfile
from pathlib import Path

from engine.credentials.interface.credential import Context, CredentialKind
from engine.credentials.interface.fetched import FetchedCredential
from engine.values.trees import Json, Section

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_FILES = {
    "service_account": ("client_email", "private_key", "token_uri"),
    "external_account": ("audience", "subject_token_type", "token_url", "credential_source"),
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
    "impersonated_service_account": ("service_account_impersonation_url", "source_credentials"),
}
"""The types of credential files, and the members that each must have."""

_SCHEMA: Json = {
    "description": "An access token of Google Cloud, fetched and renewed. {} uses Application "
    "Default Credentials.",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "file": {
            "description": "The key of a service account, or the configuration of a workload "
            "identity. Absent: Application Default Credentials.",
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
        "quota_project": {
            "description": "The project that is charged, sent as x-goog-user-project.",
            "type": "string",
            "pattern": "^[a-z0-9:.-]+$",
        },
    },
}


def _read(section: Section, context: Context) -> FetchedCredential:
    options = {"scope": _SCOPE, **section["google"]}
    context.needs_extra("google", "google.auth", ("google",))
    label = "google default credentials"
    if "file" in options:
        path = context.file(options["file"], ("google", "file"))
        label = f"google file {path.name}"
        options["file"] = str(path)
        if isfile(path) and (problem := _problem_of(path)):
            context.error(("google", "file"), f"'{path.name}' {problem}", code="MW104")
    project = options.pop("quota_project", "")
    headers = (("x-goog-user-project", project),) if project else ()
    return FetchedCredential("google", label, options, headers=headers)


def _problem_of(path: Path) -> str:
    """Why a file is not a valid credential file, as the predicate of a sentence; "" if no mistake
    is found."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ValueError:
        return "is not JSON"
    kind = document.get("type") if isinstance(document, dict) else None
    if kind not in _FILES:
        return f"is not a credential file: its 'type' is not one of {', '.join(_FILES)}"
    missing = [member for member in _FILES[kind] if member not in document]
    return f"is not a credential file of type {kind}: {missing[0]} is missing" if missing else ""


CREDENTIAL = CredentialKind(
    form="{google: {}}",
    schema=_SCHEMA,
    read=_read,
    reads_body=False,
)

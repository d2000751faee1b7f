"""Access tokens of Google: of a credential file, or of the environment.

Files are read by the class for their type: the library's function for any file also asks Google for
the project's number, which a token does not need.
"""

from __future__ import annotations

import json
import os
from datetime import UTC
from typing import Any

import google.auth
from google.auth import aws, identity_pool, impersonated_credentials
from google.auth.exceptions import (
    DefaultCredentialsError,
    GoogleAuthError,
    RefreshError,
    TransportError,
)
from google.auth.transport.requests import Request
from google.oauth2 import credentials as user
from google.oauth2 import service_account

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.values.trees import Section

_FILE = "GOOGLE_APPLICATION_CREDENTIALS"

_READERS = {
    "service_account": service_account.Credentials.from_service_account_info,
    "external_account": identity_pool.Credentials.from_info,
    "external_account of aws": aws.Credentials.from_info,
    "authorized_user": user.Credentials.from_authorized_user_info,
    "impersonated_service_account": (
        impersonated_credentials.Credentials.from_impersonated_service_account_info
    ),
}
"""The reader of each type of file."""


def fetch(options: Section) -> tuple[dict[str, str], float | None]:
    """The options are those of `engine/credentials/google.py`."""
    request = Request()
    file = options.get("file") or os.environ.get(_FILE)
    try:
        if file:
            credentials = _read(file, options["scope"])
        else:
            credentials, _ = google.auth.default(scopes=[options["scope"]], request=request)
        credentials.refresh(request)
    except (DefaultCredentialsError, OSError, ValueError) as error:
        words = "no Google credentials were found"
        detail = f"{file}: {_text(error)}" if file else _text(error)
        raise CredentialUnavailable(words, detail, lasting=True) from error
    except TransportError as error:
        words = "Google's token server cannot be reached"
        raise CredentialUnavailable(words, _text(error)) from error
    except RefreshError as error:
        words = "Google's token server gave no token"
        raise CredentialUnavailable(words, _text(error), lasting=not error.retryable) from error
    except GoogleAuthError as error:
        raise CredentialUnavailable("there is no Google token", _text(error)) from error
    expiry = credentials.expiry
    expires = None if expiry is None else expiry.replace(tzinfo=UTC).timestamp()
    return {"token": credentials.token}, expires


def _read(file: str, scope: str) -> Any:
    with open(file, encoding="utf-8") as opened:
        document = json.load(opened)
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "external_account" and "environment_id" in document.get("credential_source", {}):
        kind = "external_account of aws"
    if kind not in _READERS:
        raise ValueError(f"credentials of type {kind!r} are not supported")
    return _READERS[kind](document, scopes=[scope])


def _text(error: Exception) -> str:
    """The message; the other arguments of a RefreshError repeat the whole answer."""
    is_refusal = isinstance(error, RefreshError) and error.args
    return " ".join(str(error.args[0] if is_refusal else error).split())

"""Access tokens of Microsoft Entra ID."""

from __future__ import annotations

import os
from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError, ServiceRequestError
from azure.identity import (
    CertificateCredential,
    ClientSecretCredential,
    CredentialUnavailableError,
    EnvironmentCredential,
    ManagedIdentityCredential,
    WorkloadIdentityCredential,
)

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.values.trees import Section

_ENVIRONMENT = (
    ("AZURE_CLIENT_SECRET", EnvironmentCredential),
    ("AZURE_CLIENT_CERTIFICATE_PATH", EnvironmentCredential),
    ("AZURE_FEDERATED_TOKEN_FILE", WorkloadIdentityCredential),
)
"""The credential class for each environment variable, if it is set, in this order."""


def fetch(options: Section) -> tuple[dict[str, str], float | None]:
    """The options are those of `engine/credentials/azure.py`."""
    try:
        token = _credential(options).get_token(options["scope"])
    except CredentialUnavailableError as error:
        words = "no Azure credentials were found"
        raise CredentialUnavailable(words, _text(error), lasting=True) from error
    except ClientAuthenticationError as error:
        if isinstance(error.__context__, ServiceRequestError):
            raise _unreachable(error) from error
        status = getattr(error.response, "status_code", None) or 401
        words = "Microsoft Entra ID gave no token"
        lasting = 400 <= status < 500 and status not in (408, 429)
        raise CredentialUnavailable(words, _text(error), lasting=lasting) from error
    except ServiceRequestError as error:
        raise _unreachable(error) from error
    except (AzureError, OSError, ValueError) as error:
        raise CredentialUnavailable("there is no Azure token", _text(error)) from error
    return {"token": token.token}, float(token.expires_on)


def _credential(options: Section) -> Any:
    client, authority = options.get("client"), _authority(options)
    if "secret" in options:
        secret = options["secret"]
        return ClientSecretCredential(options["tenant"], client or "", secret, **authority)
    if "certificate" in options:
        return CertificateCredential(
            options["tenant"], client or "", options["certificate"], **authority
        )
    if "token_file" in options:
        ids = {"tenant_id": options["tenant"], "client_id": client}
        return WorkloadIdentityCredential(**ids, token_file_path=options["token_file"], **authority)
    for variable, kind in _ENVIRONMENT:
        if os.environ.get(variable) and client is None:
            return kind(**authority)
    return ManagedIdentityCredential(client_id=client)


def _unreachable(error: Exception) -> CredentialUnavailable:
    return CredentialUnavailable("Microsoft Entra ID cannot be reached", _text(error))


def _authority(options: Section) -> dict[str, Any]:
    """The arguments for another authority: instance discovery would ask the public one."""
    if "authority" not in options:
        return {}
    return {"authority": options["authority"], "disable_instance_discovery": True}


def _text(error: Exception) -> str:
    return " ".join(str(error).split())

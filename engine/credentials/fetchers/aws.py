"""Keys of AWS, as botocore finds them: in the environment, a profile, a web identity, the role of
the container or of the instance."""

from __future__ import annotations

import time

from botocore import exceptions
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    MetadataRetrievalError,
)
from botocore.session import Session

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.values.trees import Section

_MAX_LIFETIME = 129_600
"""The longest lifetime of temporary keys in seconds: 36 hours."""

_TRANSIENT = (
    exceptions.ConnectionError,
    HTTPClientError,
    CredentialRetrievalError,
    MetadataRetrievalError,
)


def fetch(options: Section) -> tuple[dict[str, str], float | None]:
    """The options are `region` and `profile` of `engine/credentials/aws.py`."""
    try:
        session = Session(profile=options.get("profile"))
        session.set_config_variable("region", options["region"])
        credentials = session.get_credentials()
        if credentials is None:
            words = "no AWS keys were found"
            detail = "not in AWS_ACCESS_KEY_ID, a profile, a web identity, nor in the role of a "
            detail += "container or an instance"
            raise CredentialUnavailable(words, detail, lasting=True)
        keys = credentials.get_frozen_credentials()
        expires = _expires(credentials)
    except ClientError as error:
        response = error.response
        code = response.get("Error", {}).get("Code", "an error")
        lasting = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) < 500
        words = f"the token service of AWS answered {code}"
        raise CredentialUnavailable(words, str(error), lasting=lasting) from error
    except (BotoCoreError, OSError) as error:
        lasting = not isinstance(error, _TRANSIENT)
        raise CredentialUnavailable("there are no AWS keys", str(error), lasting=lasting) from error
    values = {
        "access_key": keys.access_key,
        "secret_key": keys.secret_key,
        "session_token": keys.token or "",
    }
    return values, expires


def _expires(credentials: Credentials) -> float | None:
    """The Unix time at which temporary keys expire; None for others. Found by bisection: botocore
    only answers whether they expire within a given time."""
    if not isinstance(credentials, RefreshableCredentials):
        return None
    low, high = 0, _MAX_LIFETIME
    while low < high:
        middle = (low + high) // 2
        if credentials.refresh_needed(refresh_in=middle):
            high = middle
        else:
            low = middle + 1
    return time.time() + low

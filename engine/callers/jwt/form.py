"""The form of a JSON Web Token, and what it says, of which nothing is verified here."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from typing import Any

import orjson

from engine.callers.jwt.refusal import TokenRefused

INVALID = "The token is not a valid JSON Web Token."
_FORM = re.compile(r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


def has_form(secret: str) -> bool:
    """Whether a secret has the form of such a token, signed."""
    return secret.startswith("eyJ") and _FORM.fullmatch(secret) is not None


def unverified(secret: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the claims of a token. Raises TokenRefused."""
    try:
        header, claims = map(_json, secret.split(".")[:2])
    except ValueError as error:
        raise TokenRefused(INVALID) from error
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TokenRefused(INVALID)
    return header, claims


def _json(part: str) -> Any:
    """The JSON of a part of a token (RFC 7515 3.1). Raises ValueError."""
    return orjson.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))

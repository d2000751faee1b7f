"""The form of a JSON Web Token, and what it says, of which nothing is verified here.

It is a JWS in the compact serialization (RFC 7515 7.1): header, claims and signature, each in
base64url (RFC 4648 5) without padding. A part is read in its only form, so that no two texts are
the same token.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from functools import lru_cache
from typing import Any

import orjson
from msgspec import Struct

from engine.callers.jwt.refusal import TokenRefused

INVALID = "The token is not a valid JSON Web Token."
_FORM = re.compile(r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_TO_BASE64 = bytes.maketrans(b"-_+/=", b"+/!!!")
"""Base64url as base64. Of the other three characters of base64 it makes one that neither has."""
_CACHED_HEADERS = 256


class Token(Struct, frozen=True):
    """A token, read. `signed` are the bytes that `signature` is of (RFC 7515 5.2)."""

    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


def has_form(secret: str) -> bool:
    """Whether a secret has the form of such a token, signed."""
    return secret.startswith("eyJ") and _FORM.fullmatch(secret) is not None


def parse(secret: str) -> Token:
    """A token. Raises TokenRefused."""
    signed, _, signature = secret.encode("utf-8", "surrogateescape").rpartition(b".")
    header, _, claims = signed.partition(b".")
    try:
        return Token(_header(header), _object(claims), signed, _decode(signature))
    except ValueError as error:
        raise TokenRefused(INVALID) from error


def unverified(secret: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the claims of a token, whether or not it has a signature. Raises
    TokenRefused."""
    parts = secret.encode("utf-8", "surrogateescape").split(b".")
    try:
        header, claims = map(_object, parts[:2])
    except ValueError as error:
        raise TokenRefused(INVALID) from error
    return header, claims


def _object(part: bytes) -> dict[str, Any]:
    """The JSON object of a part of a token. Raises ValueError."""
    value = orjson.loads(_decode(part))
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


_header = lru_cache(_CACHED_HEADERS)(_object)  # an issuer's tokens have few
"""The same of a header. It is shared: nobody changes it."""


def _decode(part: bytes) -> bytes:
    """The bytes of a part of a token (RFC 7515 2). Raises ValueError."""
    text = part.translate(_TO_BASE64) + b"=="[: -len(part) % 4]
    data = a2b_base64(text, strict_mode=True)
    if b2a_base64(data, newline=False) != text:
        raise ValueError("bits after the last byte")
    return data

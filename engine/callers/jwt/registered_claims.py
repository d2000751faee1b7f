"""The registered claims of a token whose signature is verified: `check_registered`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.callers.jwt.compact_form import INVALID
from engine.callers.jwt.refusal import TokenRefused
from engine.config.callers import JwtIssuer

_EXPIRED = "The token has expired. Sign in again."
_IMMATURE = "The token is not valid yet: see its claims nbf and iat."
_OTHER_AUDIENCE = "The token was issued for another audience."
_INCOMPLETE = "The token lacks one of the claims exp, iss and aud."
_INTEGER = re.compile("-?[0-9]+")


def check_registered(issuer: JwtIssuer, claims: Mapping[str, Any], now: float) -> None:
    """Raises TokenRefused for a token that is not valid `now`, in Unix seconds, of another issuer
    or for another audience, or with a registered claim of the wrong form. Times may differ by the
    issuer's leeway (RFC 7519 4.1)."""
    for name in ("exp", "iss", "aud"):
        if claims.get(name) is None:
            raise TokenRefused(_INCOMPLETE, is_known=True)
    latest = now + issuer.leeway
    for name in ("nbf", "iat"):
        if name in claims and _seconds(claims[name]) > latest:
            raise TokenRefused(_IMMATURE, is_known=True)
    if _seconds(claims["exp"]) <= now - issuer.leeway:
        raise TokenRefused(_EXPIRED, is_known=True)
    if claims["iss"] != issuer.issuer:
        raise _invalid()
    _check_audience(issuer, claims["aud"])
    for name in ("sub", "jti"):
        if not isinstance(claims.get(name, ""), str):
            raise _invalid()


def _check_audience(issuer: JwtIssuer, value: object) -> None:
    """A text or a list of texts, of which one is an audience of the issuer."""
    names = value if isinstance(value, list) else [value]
    is_meant = False
    for name in names:
        if not isinstance(name, str):
            raise TokenRefused(_OTHER_AUDIENCE, is_known=True)
        is_meant = is_meant or name in issuer.audience
    if not is_meant:
        raise TokenRefused(_OTHER_AUDIENCE, is_known=True)


def _seconds(value: Any) -> int:
    """A NumericDate (RFC 7519 2). Issuers that write it as a text are understood, in the digits of
    JSON."""
    if isinstance(value, bool) or (isinstance(value, str) and not _INTEGER.fullmatch(value)):
        raise _invalid()
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise _invalid() from error


def _invalid() -> TokenRefused:
    return TokenRefused(INVALID, is_known=True)

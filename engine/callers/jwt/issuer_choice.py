"""The entry of `callers.jwt` that decides about a token: the first whose issuer, audience and
`require` its claims meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.rights import meets
from engine.config.callers import JwtIssuer


def choose_issuer(issuers: Sequence[JwtIssuer], claims: Mapping[str, Any]) -> JwtIssuer:
    """The entry for these claims; one that they do not meet (see `meets`) if they meet none. Raises
    TokenRefused for claims of no issuer, and of none for this audience."""
    first, reason = None, "The issuer of the token is not accepted here."
    for entry in issuers:
        if entry.issuer != claims.get("iss"):
            continue
        if not is_for(claims, entry.audience):
            reason = "The token was issued for another audience."
            continue
        if meets(entry, claims):
            return entry
        first = first or entry
    if first is None:
        raise TokenRefused(reason)
    return first


def check_claims(issuer: JwtIssuer, claims: Mapping[str, Any]) -> None:
    """Raises TokenRefused for verified claims that do not meet the entry, and of a revoked
    token."""
    if not meets(issuer, claims):
        raise TokenRefused("The token lacks a claim that is required here.", is_known=True)
    for name, revoked in (("jti", issuer.revoked), ("sub", issuer.revoked_subjects)):
        value = claims.get(name)
        if isinstance(value, str) and value in revoked:
            raise TokenRefused("The token was revoked.", is_known=True)


def is_for(claims: Mapping[str, Any], audience: Sequence[str]) -> bool:
    """Whether a token is for one of these (RFC 7519 4.1.3)."""
    value = claims.get("aud")
    names = value if isinstance(value, list) else [value]
    return any(name in audience for name in names if isinstance(name, str))

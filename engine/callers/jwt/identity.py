"""The identity of a JSON Web Token, by which its open requests are ended: `jwt:ISSUER:JTI`, or
`jwt:` and its digest if it has no claim `jti`. That of any other token is a digest in hexadecimal.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.callers import JwtIssuer

PREFIX = "jwt:"


def is_signed(identity: str) -> bool:
    """Whether an identity is that of a JSON Web Token."""
    return identity.startswith(PREFIX)


def unrevocable(digest: str) -> str:
    """The identity of a token without `jti`."""
    return PREFIX + digest


def revocable(issuer: str, token_id: str) -> str:
    """The identity of a token with the claim `jti`."""
    return f"{PREFIX}{issuer}:{token_id}"


def revoked_identities(issuers: Iterable[JwtIssuer]) -> set[str]:
    """Those of all tokens that the config revokes."""
    return {revocable(issuer.issuer, token) for issuer in issuers for token in issuer.revoked}

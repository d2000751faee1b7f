"""The identity of a JSON Web Token, by which its open requests are ended: `jwt:ISSUER`, a newline,
and its claim `jti`, or its digest without one. That of any other token is a digest in hexadecimal.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.callers import JwtIssuer

_PREFIX = "jwt:"
_NO_ID = "digest "


def is_signed(identity: str) -> bool:
    """Whether an identity is that of a JSON Web Token."""
    return identity.startswith(_PREFIX)


def unrevocable(issuer: str, digest: str) -> str:
    """The identity of a token without `jti`."""
    return f"{issuer_identity(issuer)}\n{_NO_ID}{digest}"


def revocable(issuer: str, token_id: str) -> str:
    """The identity of a token with the claim `jti`."""
    return f"{issuer_identity(issuer)}\n{token_id}"


def issuer_identity(issuer: str) -> str:
    """What stands for all tokens of an issuer."""
    return _PREFIX + issuer


def issuer_of(identity: str) -> str:
    """The `issuer_identity` of a token's identity."""
    return identity.partition("\n")[0]


def revoked_identities(issuers: Iterable[JwtIssuer]) -> set[str]:
    """Those of all tokens that the config revokes."""
    return {revocable(issuer.issuer, token) for issuer in issuers for token in issuer.revoked}


def issuer_identities(issuers: Iterable[JwtIssuer]) -> set[str]:
    """Those of all issuers of the config."""
    return {issuer_identity(issuer.issuer) for issuer in issuers}

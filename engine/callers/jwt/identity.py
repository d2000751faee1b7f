"""The identity of a JSON Web Token, by which its open requests are ended: `jwt:ISSUER`, its claim
`jti`, or its digest without one, and its claim `sub`, a line each. That of any other token is a
digest in hexadecimal.

A config ends issuers, tokens and subjects: each has an identity of its own, of which a token has
three (`ends_of`).
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.callers import JwtIssuer

_PREFIX = "jwt:"
_NO_ID = "digest "


def is_signed(identity: str) -> bool:
    """Whether an identity is that of a JSON Web Token."""
    return identity.startswith(_PREFIX)


def unrevocable(issuer: str, digest: str, subject: str) -> str:
    """The identity of a token without `jti`."""
    return revocable(issuer, f"{_NO_ID}{digest}", subject)


def revocable(issuer: str, token_id: str, subject: str) -> str:
    """The identity of a token with the claim `jti`."""
    return f"{_token(issuer, token_id)}\n{_line(subject)}"


def issuer_identity(issuer: str) -> str:
    """What stands for all tokens of an issuer."""
    return _PREFIX + issuer


def ends_of(identity: str) -> tuple[str, str, str]:
    """What ends a token: the identities of its issuer, its `jti` and its subject."""
    issuer, token, subject = identity.rsplit("\n", 2)
    return issuer, f"{issuer}\n{token}", f"{issuer}\n\n{subject}"


def revoked_identities(issuers: Iterable[JwtIssuer]) -> set[str]:
    """Those of all tokens and subjects that the config revokes."""
    revoked: set[str] = set()
    for issuer in issuers:
        name = issuer.issuer
        revoked |= {_token(name, token) for token in issuer.revoked}
        revoked |= {
            f"{issuer_identity(name)}\n\n{_line(subject)}" for subject in issuer.revoked_subjects
        }
    return revoked


def issuer_identities(issuers: Iterable[JwtIssuer]) -> set[str]:
    """Those of all issuers of the config."""
    return {issuer_identity(issuer.issuer) for issuer in issuers}


def _token(issuer: str, token_id: str) -> str:
    return f"{issuer_identity(issuer)}\n{_line(token_id)}"


def _line(text: str) -> str:
    """A text of a claim in one line."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")

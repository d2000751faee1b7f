"""Finds the caller of a JSON Web Token: `Bearers`.

A token is judged in this order, so that nothing is computed for a stranger: size, form, header,
issuer, algorithm, key; then PyJWT verifies the signature and the registered claims (RFC 7519 4.1).
A verified token is cached by its digest until it expires or its issuer's keys change.
"""

from __future__ import annotations

import re
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt
import orjson
from cachetools import LRUCache

from engine.callers.jwt.identity import revocable, unrevocable
from engine.callers.jwt.key_set import KeySet
from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.rights import caller_of, meets
from engine.config.callers import JwtIssuer
from engine.values.caller import Caller, digest
from engine.values.claim_place import ClaimPlace
from engine.values.teams import NO_TEAMS, Teams

MAX_TOKEN = 8_192
"""Characters of a token."""

_FORM = re.compile(r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_CACHE_SIZE = 10_000
_INVALID = "The token is not a valid JSON Web Token."
_REASONS: tuple[tuple[type[jwt.PyJWTError], str], ...] = (
    (jwt.ExpiredSignatureError, "The token has expired. Sign in again."),
    (jwt.ImmatureSignatureError, "The token is not valid yet: see its claims nbf and iat."),
    (jwt.InvalidAudienceError, "The token was issued for another audience."),
    (jwt.MissingRequiredClaimError, "The token lacks one of the claims exp, iss and aud."),
    (jwt.InvalidSignatureError, "The signature of the token is wrong."),
)
_OF_SIGNED = (
    jwt.ExpiredSignatureError,
    jwt.ImmatureSignatureError,
    jwt.InvalidAudienceError,
    jwt.MissingRequiredClaimError,
)
"""What PyJWT raises for tokens whose signature it has verified."""


@dataclass(frozen=True, slots=True)
class _Entry:
    caller: Caller
    identity: str
    keys: KeySet
    version: int


class Bearers:
    """The bearers of tokens of these issuers. `key_sets` has the keys of each entry. Callers carry
    the `claims` at these places, and are members of `teams`."""

    def __init__(
        self,
        issuers: Sequence[JwtIssuer],
        key_sets: Sequence[KeySet],
        currency: str,
        clock: Callable[[], float] = time.time,
        size: int = _CACHE_SIZE,
        *,
        teams: Teams = NO_TEAMS,
        claims: Iterable[str] = (),
    ) -> None:
        self._currency = currency
        self._teams = teams
        self._claims = [ClaimPlace.parse(text) for text in claims]
        self._clock = clock
        self._entries: LRUCache[str, _Entry] = LRUCache(size)
        self._issuers: dict[str, list[tuple[JwtIssuer, KeySet]]] = {}
        for issuer, key_set in zip(issuers, key_sets, strict=True):
            self._issuers.setdefault(issuer.issuer, []).append((issuer, key_set))

    @staticmethod
    def is_signed(secret: str) -> bool:
        """Whether a secret has the form of such a token; then no other table knows it."""
        return secret.startswith("eyJ") and _FORM.fullmatch(secret) is not None

    def caller(self, secret: str) -> tuple[Caller, str]:
        """The caller, and the identity of the token (`identity.py`). Raises TokenRefused,
        KeysUnavailable."""
        if len(secret) > MAX_TOKEN:
            message = f"The token has more than {MAX_TOKEN} characters: it needs fewer claims."
            raise TokenRefused(message)
        key = digest(secret)
        entry = self._entries.get(key)
        if entry is not None:
            entry.keys.renew()
            expires = entry.caller.expires
            is_valid = expires is None or self._clock() < expires
            if is_valid and entry.version == entry.keys.version:
                return entry.caller, entry.identity
            self._entries.pop(key, None)  # another request may have removed it meanwhile
        entry = self._verify(secret, key)
        self._entries[key] = entry
        return entry.caller, entry.identity

    def _verify(self, secret: str, key: str) -> _Entry:
        header, claims = unverified(secret)
        entries = self._issuers.get(str(claims.get("iss")))
        if entries is None:
            raise TokenRefused("The issuer of the token is not accepted here.")
        entries = [entry for entry in entries if is_for(claims, entry[0].audience)]
        if not entries:
            raise TokenRefused("The token was issued for another audience.")
        # Chosen by what nobody has verified, so that one signature is verified, not one an entry.
        chosen = (entry for entry in entries if meets(entry[0], claims))
        issuer, key_set = next(chosen, entries[0])
        verified = self._signed(secret, header, issuer, key_set)
        if not meets(issuer, verified):
            reason = "The token lacks a claim that is required here."
            raise TokenRefused(reason, is_known=True)
        identity = _identity(issuer, verified, key)
        caller = caller_of(issuer, verified, self._currency, self._claims)
        caller = self._teams.member(caller)
        return _Entry(caller, identity, key_set, key_set.version)

    def _signed(
        self, secret: str, header: Mapping[str, Any], issuer: JwtIssuer, key_set: KeySet
    ) -> dict[str, Any]:
        """The claims of a token, verified. Raises TokenRefused, KeysUnavailable."""
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in issuer.algorithms:
            raise TokenRefused("The token is signed with an algorithm that is not accepted.")
        if "crit" in header:
            raise TokenRefused("The token has extensions (crit) that are not known.")
        public = key_set.find(kid if isinstance(kid, str) else None, algorithm)
        if public is None:
            raise TokenRefused("The key of the token is not one of its issuer's.")
        try:
            verified: dict[str, Any] = jwt.decode(
                secret,
                public,
                algorithms=[algorithm],
                audience=issuer.audience,
                issuer=issuer.issuer,
                leeway=issuer.leeway,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            reasons = (text for kind, text in _REASONS if isinstance(error, kind))
            reason = next(reasons, _INVALID)
            raise TokenRefused(reason, is_known=isinstance(error, _OF_SIGNED)) from error
        return verified


def unverified(secret: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the claims of a token, of which nothing is verified. Raises TokenRefused."""
    try:
        header, claims = map(_json, secret.split(".")[:2])
    except ValueError as error:
        raise TokenRefused(_INVALID) from error
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TokenRefused(_INVALID)
    return header, claims


def _json(part: str) -> Any:
    """The JSON of a part of a token (RFC 7515 3.1). Raises ValueError."""
    return orjson.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def is_for(claims: Mapping[str, Any], audience: Sequence[str]) -> bool:
    """Whether a token is for one of these (RFC 7519 4.1.3)."""
    value = claims.get("aud")
    names = value if isinstance(value, list) else [value]
    return any(name in audience for name in names if isinstance(name, str))


def _identity(issuer: JwtIssuer, claims: Mapping[str, Any], key: str) -> str:
    """Raises TokenRefused for a revoked token."""
    token_id = claims.get("jti")
    if not isinstance(token_id, str):
        return unrevocable(issuer.issuer, key)
    if token_id in issuer.revoked:
        raise TokenRefused("The token was revoked.", is_known=True)
    return revocable(issuer.issuer, token_id)

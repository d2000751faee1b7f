"""Finds the caller of a JSON Web Token: `Bearers`.

A token is judged in this order, so that nothing is computed for a stranger: size, form, header,
issuer, algorithm, key; then the signature, which PyJWT's algorithm verifies, and the claims. What
PyJWT reads itself it looks at character by character, which takes as long as half a signature.
A verified token is cached by its digest until it expires or its issuer's keys change.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.callers.jwt.compact_form import INVALID, Token, has_form, parse
from engine.callers.jwt.identity import revocable, unrevocable
from engine.callers.jwt.key_set import KeySet
from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.registered_claims import check_registered
from engine.callers.jwt.rights import caller_of, check_claims, choose_issuer
from engine.config.callers import JwtIssuer
from engine.config.teams import NO_TEAMS, Teams
from engine.values.caller import Caller, digest
from engine.values.json_pointer import ClaimPlace

MAX_TOKEN = 8_192
"""Characters of a token."""

_CACHE_SIZE = 10_000
_SUFFIXES = ("+jwt", "+sd-jwt")
"""How types of tokens end (RFC 8725, RFC 9901)."""
_BLANK = " \t\r\n\0"


class _Entry(Struct, frozen=True):
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
        self._entries: OrderedDict[str, _Entry] = OrderedDict()  # the last used are last
        self._size = size
        self._issuers = issuers
        self._key_sets = {entry.at: keys for entry, keys in zip(issuers, key_sets, strict=True)}

    @staticmethod
    def is_signed(secret: str) -> bool:
        """Whether a secret has the form of such a token; then no other table knows it."""
        return has_form(secret)

    def caller(self, secret: str) -> tuple[Caller, str]:
        """The caller, and the identity of the token (`identity.py`). Raises TokenRefused,
        KeysUnavailable."""
        _check_size(secret)
        key = digest(secret)
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
            entry.keys.renew()
            expires = entry.caller.expires
            is_valid = expires is None or self._clock() < expires
            if is_valid and entry.version == entry.keys.version:
                return entry.caller, entry.identity
            self._entries.pop(key, None)  # another request may have removed it meanwhile
        entry = self._verify(secret, key)
        self._entries[key] = entry
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return entry.caller, entry.identity

    def claims(self, secret: str) -> Mapping[str, Any]:
        """The claims of a token of an issuer for one of its audiences, whatever else an entry
        requires. Raises TokenRefused, KeysUnavailable."""
        _check_size(secret)
        token = parse(secret)
        issuer = choose_issuer(self._issuers, token.claims)
        self._check(token, issuer, self._key_sets[issuer.at])
        return token.claims

    def _verify(self, secret: str, key: str) -> _Entry:
        token = parse(secret)
        claims = token.claims
        # Chosen by what nobody has verified, so that one signature is verified, not one an entry.
        issuer = choose_issuer(self._issuers, claims)
        key_set = self._key_sets[issuer.at]
        self._check(token, issuer, key_set)
        check_claims(issuer, claims)
        identity = _identity(issuer, claims, key)
        caller = caller_of(issuer, claims, self._currency, self._claims)
        caller = self._teams.member(caller)
        return _Entry(caller, identity, key_set, key_set.version)

    def _check(self, token: Token, issuer: JwtIssuer, key_set: KeySet) -> None:
        """Verify a token's signature, then its registered claims. Raises TokenRefused,
        KeysUnavailable."""
        _check_signature(token, issuer, key_set)
        check_registered(issuer, token.claims, self._clock())
        if "events" in token.claims:
            message = "The token tells of events (RFC 8417) and is not for calling an API."
            raise TokenRefused(message, is_known=True)


def _check_signature(token: Token, issuer: JwtIssuer, key_set: KeySet) -> None:
    """Verify a token's signature as its header says, if the issuer's entry allows that (RFC 7515
    5.2). Raises TokenRefused, KeysUnavailable."""
    header = token.header
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in issuer.algorithms:
        raise TokenRefused("The token is signed with an algorithm that is not accepted.")
    if "crit" in header:
        raise TokenRefused("The token has extensions (crit) that are not known.")
    if "enc" in header or header.get("b64", True) is not True:  # RFC 7516 9, RFC 7797 3
        raise TokenRefused(INVALID)
    if not isinstance(header.get("kid", ""), str) or not isinstance(header.get("typ", ""), str):
        raise TokenRefused(INVALID)
    if _is_for_other_use(header.get("typ", "")):
        raise TokenRefused("The token is of a type (typ) that is not for calling an API.")
    public = key_set.find(kid, algorithm)
    if public is None:
        raise TokenRefused("The key of the token is not one of its issuer's.")
    if not public.Algorithm.verify(token.signed, public.key, token.signature):
        raise TokenRefused("The signature of the token is wrong.")


def _check_size(secret: str) -> None:
    if len(secret) > MAX_TOKEN:
        message = f"The token has more than {MAX_TOKEN} characters: it needs fewer claims."
        raise TokenRefused(message)


def _is_for_other_use(kind: str) -> bool:
    """Whether the type of a token is another than that of access and ID tokens (RFC 8725 3.11): an
    issuer signs logout tokens and credentials for the same audience with the same key. It is a
    media type, which may have parameters."""
    kind = kind.partition(";")[0].strip(_BLANK).lower().removeprefix("application/")
    return kind.endswith(_SUFFIXES) and kind != "at+jwt"


def _identity(issuer: JwtIssuer, claims: Mapping[str, Any], key: str) -> str:
    token_id, subject = claims.get("jti"), claims.get("sub")
    subject = subject if isinstance(subject, str) else ""
    if isinstance(token_id, str):
        return revocable(issuer.issuer, token_id, subject)
    return unrevocable(issuer.issuer, key, subject)

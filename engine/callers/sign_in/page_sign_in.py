"""The sign-in of people to the pages: an authorization code with PKCE (RFC 6749 4.1, RFC 7636), an
ID token (OpenID Connect Core 1.0), a session. Read `PageSignIn.finish` first.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from engine.callers.jwt.refusal import KeysUnavailable, TokenRefused
from engine.callers.sign_in.cookie_sessions import Cookie, PageSessions
from engine.callers.sign_in.pending_sign_in import (
    MAX_SECONDS,
    PendingSignIn,
    PendingSignIns,
    new_pending_sign_in,
)
from engine.callers.sign_in.person_claims import facts_of
from engine.callers.sign_in.provider import Provider
from engine.callers.sign_in.refusal import ProviderUnavailable, SignInRefused, error_code
from engine.config.callers import JwtIssuer
from engine.config.console import SignInConfig
from engine.exchange.sign_in import Arrival, Start
from engine.values.caller import Caller
from engine.values.json_pointer import ClaimPlace
from engine.values.trees import Json

MAX_CODE = 4_000
"""Characters of a code."""

_NOT_STARTED = (
    "This sign-in was not started in this browser, was started again since then, or took more "
    "than ten minutes. Sign in again."
)
_OF_ANOTHER_SIGN_IN = "The provider's ID token is not that of this sign-in. Sign in again."


Verify = Callable[[str], Mapping[str, Any]]
"""The claims of an ID token whose signature, issuer, audience and times are right. Raises
TokenRefused, KeysUnavailable."""


class PageSignIn:
    """Signs people in to the pages at `base_url`. `entries` are those of the issuer in
    `callers.jwt`, `places` those of the claims that are read."""

    def __init__(
        self,
        config: SignInConfig,
        base_url: str,
        entries: Sequence[JwtIssuer],
        places: Sequence[ClaimPlace],
        provider: Provider,
        verify: Verify,
        sessions: PageSessions,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._entries = entries
        self._places = places
        self._provider = provider
        self._verify = verify
        self._pending = PendingSignIns(config.keys, config.issuer, config.client_id)
        self._clock = clock
        self._cookie = Cookie("sign-in", "Lax", base_url.startswith("https:"))
        self._sessions = sessions
        self.base_url = base_url
        self.is_own_fetch = sessions.is_own_fetch
        self.caller = sessions.caller

    def begin(self, page: str) -> Start:
        """Send a person to the provider, and to `page` (a path) at the end. Raises
        ProviderUnavailable."""
        pending = new_pending_sign_in(page, self._clock())
        cookie = self._cookie.set(self._pending.seal(pending), MAX_SECONDS)
        return Start(self._provider.authorization_url(pending), cookie)

    def finish(self, query: str, environ: Mapping[str, Any]) -> Arrival:
        """The person comes back from the provider. Raises SignInRefused, ProviderUnavailable."""
        parameters = _parameters(query)
        pending = self._pending.open(self._cookie.read(environ), self._clock())
        state = parameters.get("state", "")
        if pending is None or not hmac.compare_digest(state.encode(), pending.state.encode()):
            raise SignInRefused(_NOT_STARTED, is_other=True)
        self._check_sender(parameters)
        if "error" in parameters:
            raise SignInRefused(_words(error_code(parameters["error"])))
        code = parameters.get("code", "")
        if not 0 < len(code) <= MAX_CODE:
            raise SignInRefused("The provider sent no code. Sign in again.")
        token, access_token = self._provider.tokens(code, pending.verifier)
        try:
            claims = self._with_userinfo(self._claims(token, pending), access_token)
            session, caller = self._session(claims)
        except TokenRefused as error:
            raise SignInRefused(str(error), is_forbidden=error.is_known) from error
        except KeysUnavailable as error:
            raise ProviderUnavailable(str(error)) from error
        return Arrival(pending.page, (self._cookie.clear(), session), caller)

    def forget(self) -> str:
        """The value of Set-Cookie that ends a sign-in which has failed."""
        return self._cookie.clear()

    def sign_out(self) -> tuple[str, str]:
        """The value of Set-Cookie that ends the session, and the address where the person also
        signs out at the provider, "" if it has none or does not answer."""
        try:
            address = self._provider.end_session_url(f"{self.base_url}/")
        except ProviderUnavailable:
            address = ""
        return self._sessions.cookie.clear(), address

    def _check_sender(self, parameters: Mapping[str, str]) -> None:
        """Raises SignInRefused for a response of another provider (RFC 9207 2.4)."""
        sender = parameters.get("iss")
        if sender is None:
            if self._provider.metadata().names_issuer:
                raise SignInRefused("The response does not name its provider. Sign in again.")
        elif sender != self._config.issuer:
            raise SignInRefused("The response is that of another provider. Sign in again.")

    def _claims(self, token: str, pending: PendingSignIn) -> Mapping[str, Any]:
        """The claims of an ID token, verified (OpenID Connect Core 1.0, 3.1.3.7). Raises
        TokenRefused, KeysUnavailable."""
        claims = self._verify(token)
        nonce, client = claims.get("nonce"), claims.get("azp")
        audience = claims.get("aud")
        if not isinstance(nonce, str) or not hmac.compare_digest(
            nonce.encode(), pending.nonce.encode()
        ):
            raise TokenRefused(_OF_ANOTHER_SIGN_IN)
        if client is None and isinstance(audience, list) and len(audience) > 1:
            raise TokenRefused(_OF_ANOTHER_SIGN_IN)
        if client is not None and client != self._config.client_id:
            raise TokenRefused(_OF_ANOTHER_SIGN_IN)
        if not isinstance(claims.get("sub"), str) or not claims["sub"]:
            raise TokenRefused("The provider's ID token names no subject.")
        return claims

    def _with_userinfo(self, claims: Mapping[str, Any], access_token: str) -> Mapping[str, Any]:
        """The claims, and those of the userinfo endpoint if some that the config reads are not in
        the ID token. Raises TokenRefused, ProviderUnavailable."""
        if all(place.read(claims) is not None for place in self._places):
            return claims
        more = self._provider.userinfo(access_token)
        if more and more.get("sub") != claims["sub"]:  # 5.3.2
            raise TokenRefused("The provider's userinfo is that of another person.")
        return {**more, **claims}

    def _session(self, claims: Mapping[str, Any]) -> tuple[str, Caller]:
        """The cookie of the session, and the caller. Raises TokenRefused."""
        facts: Json = facts_of(claims, self._places, self._entries)
        token_id = claims.get("jti")
        session = self._sessions.new(
            claims["sub"], token_id if isinstance(token_id, str) else "", facts
        )
        caller, _ = self._sessions.caller_of(session)
        value = self._sessions.seal(session)
        return self._sessions.cookie.set(value, session.expires - self._clock()), caller


def _parameters(query: str) -> dict[str, str]:
    """The parameters of a response, each of which comes once (RFC 6749 3.1). Raises
    SignInRefused."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=30, errors="strict")
    except ValueError as error:
        raise SignInRefused(
            "The address has no valid query. Sign in again.", is_other=True
        ) from error
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise SignInRefused("The address has a parameter twice. Sign in again.", is_other=True)
    return parameters


def _words(code: str) -> str:
    if code == "access_denied":
        return "You were not let in by the provider, or did not agree (access_denied)."
    return f"The provider reports an error ({code or 'without a known code'}). Sign in again."

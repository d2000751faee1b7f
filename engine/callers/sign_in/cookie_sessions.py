"""The sessions of people who have signed in to the pages: each is an encrypted cookie.

It has what the provider has said, not what that allows: the config judges it at each request, as it
does the claims of a token. So what is revoked, removed or changed there holds at once.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson
from msgspec import Struct

from engine.callers.jwt.identity import revocable, unrevocable
from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.rights import caller_of, check_claims, choose_issuer
from engine.callers.sign_in.person_claims import entry_of_facts
from engine.config.callers import JwtIssuer
from engine.config.console import SignInConfig
from engine.config.teams import Teams
from engine.exchange.seal_ring import SealRing
from engine.spec.parameters.parameter_readers import cookies
from engine.values.caller import Caller
from engine.values.json_pointer import ClaimPlace
from engine.values.trees import Json

MAX_VALUE = 3_800
"""Characters of a value: browsers take 4,096 bytes with the name and the attributes."""


class Cookie(Struct, frozen=True):
    """A cookie for the whole origin, which scripts cannot read. `same_site` is Lax or Strict.
    Without TLS, which is for this machine only, it has neither prefix nor `Secure`."""

    purpose: str
    same_site: str
    has_tls: bool

    @property
    def name(self) -> str:
        return f"{'__Host-' if self.has_tls else ''}modelway-{self.purpose}"

    def read(self, environ: Mapping[str, Any]) -> str:
        """The value in a request, "" without; of two cookies of the name, neither is taken."""
        header = environ.get("HTTP_COOKIE")
        if header is None:
            return ""
        values = [value for name, value in cookies(str(header)) if name == self.name]
        return values[0] if len(values) == 1 and len(values[0]) <= MAX_VALUE else ""

    def set(self, value: str, seconds: float) -> str:
        """The value of Set-Cookie."""
        secure = "; Secure" if self.has_tls else ""
        attributes = f"Path=/; Max-Age={int(seconds)}; HttpOnly{secure}; SameSite={self.same_site}"
        return f"{self.name}={value}; {attributes}"

    def clear(self) -> str:
        """The value of Set-Cookie that removes it."""
        return self.set("", 0)


_ENDED = "The session has ended. Sign in again."
_INVALID = "The session is not valid here any more. Sign in again."


class PageSession(NamedTuple):
    """A session: its own `number`, the subject and the `jti` of the ID token ("" without one), the
    facts of the person (`person_claims.py`), and its end in Unix seconds."""

    number: str
    subject: str
    token_id: str
    facts: Json
    expires: float


class PageSessions:
    """Makes sessions, and finds their callers. Callers carry the claims at the places `carried`,
    and are members of `teams`."""

    def __init__(
        self,
        config: SignInConfig,
        base_url: str,
        entries: Sequence[JwtIssuer],
        currency: str,
        clock: Callable[[], float],
        *,
        teams: Teams,
        carried: Iterable[str] = (),
    ) -> None:
        self._config = config
        # A session of another issuer or client does not open.
        purpose = f"modelway page session\n{config.issuer}\n{config.client_id}"
        self._ring = SealRing(config.keys, purpose)
        self._entries = [entry_of_facts(entry, config.client_id) for entry in entries]
        self._currency = currency
        self._clock = clock
        self._teams = teams
        self._carried = [ClaimPlace(text, (text,)) for text in carried]
        parts = urlsplit(base_url)
        self._origin = f"{parts.scheme}://{parts.netloc}".lower()
        self.cookie = Cookie("session", "Strict", parts.scheme == "https")

    def is_own_fetch(self, environ: Mapping[str, Any]) -> bool:
        """Whether a request is a script's of a page of this origin (Fetch Metadata): no link, form
        or image, nothing of another site, and no program."""
        origin = environ.get("HTTP_ORIGIN")
        return (
            environ.get("HTTP_SEC_FETCH_SITE") == "same-origin"
            and environ.get("HTTP_SEC_FETCH_DEST") == "empty"
            and (origin is None or str(origin).lower() == self._origin)
        )

    def new(self, subject: str, token_id: str, facts: Json) -> PageSession:
        """A session that begins now."""
        expires = self._clock() + self._config.session
        return PageSession(secrets.token_urlsafe(12), subject, token_id, facts, expires)

    def seal(self, session: PageSession) -> str:
        """The value of the cookie. Raises TokenRefused if it were too long."""
        value = self._ring.seal(zlib.compress(orjson.dumps([*session]), 9))
        if len(value) > MAX_VALUE:
            names = sorted(session.facts, key=lambda name: -len(orjson.dumps(session.facts[name])))
            raise TokenRefused(
                f"The claim '{names[0]}' is too long for a session: let the provider send fewer "
                "values, or map another claim."
            )
        return value

    def caller(self, environ: Mapping[str, Any]) -> tuple[Caller, str] | None:
        """The caller of a page's own request, and the identity of the session (`identity.py`); None
        for a request without a session, and for any other. Raises TokenRefused."""
        value = self.cookie.read(environ)
        if not value or not self.is_own_fetch(environ):
            return None
        return self.caller_of(self._open(value))

    def caller_of(self, session: PageSession) -> tuple[Caller, str]:
        """The caller of a session. Raises TokenRefused."""
        if self._clock() >= session.expires:
            raise TokenRefused(_ENDED, is_known=True)
        issuer = self._config.issuer
        claims = {
            **session.facts,
            "iss": issuer,
            "aud": self._config.client_id,
            "sub": session.subject,
            "jti": session.token_id or None,
            "exp": session.expires,
        }
        entry = choose_issuer(self._entries, claims)
        check_claims(entry, claims)
        caller = caller_of(entry, claims, self._currency, self._carried)
        if session.token_id:
            identity = revocable(issuer, session.token_id, session.subject)
        else:
            identity = unrevocable(issuer, session.number, session.subject)
        return self._teams.member(caller), identity

    def _open(self, value: str) -> PageSession:
        content = self._ring.open(value)
        if content is None:
            raise TokenRefused(_INVALID, is_known=True)
        return PageSession(*orjson.loads(zlib.decompress(content)))

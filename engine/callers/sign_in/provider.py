"""An OpenID provider, asked over HTTP: its metadata (OpenID Connect Discovery 1.0),
tokens for a code, and userinfo."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote_plus, urlencode

import orjson
from gevent.lock import BoundedSemaphore
from msgspec import Struct

from engine.callers.jwt.cached_load import CachedLoad
from engine.callers.jwt.endpoint import endpoint, object_of
from engine.callers.jwt.refusal import KeysUnavailable
from engine.callers.sign_in.pending_sign_in import PendingSignIn
from engine.callers.sign_in.refusal import ProviderUnavailable, refusal_of
from engine.config.console import SignInConfig

MAX_AT_ONCE = 8
"""Sign-ins for which a worker asks the provider at one time: whoever begins one can end it."""

_FORM = ("content-type", "application/x-www-form-urlencoded")


class Answer(NamedTuple):
    """The answer of the provider."""

    status: int
    body: bytes


Send = Callable[[str, str, Sequence[tuple[str, str]], bytes], Answer]
"""Sends a request: method, URL, headers, body. Bounded in time and size, without redirects. Raises
ProviderUnavailable."""


class Provider:
    """The provider of a config, whose metadata are at `url`; it sends people back to
    `redirect_uri`."""

    def __init__(
        self,
        config: SignInConfig,
        url: str,
        redirect_uri: str,
        send: Send,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._url = url
        self._redirect_uri = redirect_uri
        self._send = send
        self._cached = CachedLoad(f"the metadata of {config.issuer}", self._load, clock)
        self._turns = BoundedSemaphore(MAX_AT_ONCE)

    def metadata(self) -> ProviderMetadata:
        """Raises ProviderUnavailable."""
        try:
            return self._cached.get()
        except KeysUnavailable as error:
            raise ProviderUnavailable(str(error)) from error

    def authorization_url(self, pending: PendingSignIn) -> str:
        """Where a person signs in (OpenID Connect Core 1.0, 3.1.2.1). Raises
        ProviderUnavailable."""
        parameters = {
            "response_type": "code",
            "client_id": self._config.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(self._config.scopes),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": pending.challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(self.metadata().authorization, parameters)

    def end_session_url(self, then: str) -> str:
        """Where a person signs out at the provider, which goes on to `then` (RP-Initiated Logout
        1.0); "" if it has no such place. Raises ProviderUnavailable."""
        address = self.metadata().end_session
        parameters = {"client_id": self._config.client_id, "post_logout_redirect_uri": then}
        return _with_query(address, parameters) if address else ""

    def tokens(self, code: str, verifier: str) -> tuple[str, str]:
        """The ID token and the access token for a code. Raises SignInRefused,
        ProviderUnavailable."""
        metadata = self.metadata()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }
        headers = [_FORM]
        if self._config.client_secret and metadata.takes_basic:
            headers.append(("authorization", self._basic()))
        else:
            form["client_id"] = self._config.client_id
            if self._config.client_secret:
                form["client_secret"] = self._config.client_secret
        answer = self._ask("POST", metadata.token, headers, urlencode(form).encode())
        members = _object(answer, "the token endpoint")
        if answer.status != 200:
            raise refusal_of(answer.status, members)
        token, access = members.get("id_token"), members.get("access_token")
        if not isinstance(token, str):
            raise ProviderUnavailable("the token endpoint answered without an ID token")
        return token, access if isinstance(access, str) else ""

    def userinfo(self, access_token: str) -> dict[str, Any]:
        """The claims of the userinfo endpoint (OpenID Connect Core 1.0, 5.3); none if the provider
        has no such endpoint. Raises ProviderUnavailable."""
        address = self.metadata().userinfo
        if not address or not access_token.isascii() or not access_token.isprintable():
            return {}
        answer = self._ask("GET", address, [("authorization", f"Bearer {access_token}")], b"")
        if answer.status != 200:
            raise ProviderUnavailable(f"the userinfo endpoint answered with {answer.status}")
        return _object(answer, "the userinfo endpoint")

    def _load(self) -> ProviderMetadata:
        try:
            answer = self._send("GET", self._url, [], b"")
        except ProviderUnavailable as error:
            raise KeysUnavailable(str(error)) from error
        if answer.status != 200:
            raise KeysUnavailable(f"{self._url} answered with status {answer.status}")
        return read_metadata(answer.body, self._config.issuer, self._url)

    def _ask(
        self, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes
    ) -> Answer:
        if not self._turns.acquire(blocking=False):
            raise ProviderUnavailable(f"{MAX_AT_ONCE} sign-ins wait for the provider")
        try:
            return self._send(method, url, headers, body)
        finally:
            self._turns.release()

    def _basic(self) -> str:
        """The client's secret as HTTP Basic (RFC 6749 2.3.1)."""
        pair = f"{quote_plus(self._config.client_id)}:{quote_plus(self._config.client_secret)}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _object(answer: Answer, name: str) -> dict[str, Any]:
    try:
        value = orjson.loads(answer.body)
    except ValueError as error:
        raise ProviderUnavailable(
            f"{name} answered with {answer.status} and not with JSON"
        ) from error
    if not isinstance(value, dict):
        raise ProviderUnavailable(f"{name} answered with {answer.status} and not with an object")
    return value


def _with_query(address: str, parameters: dict[str, str]) -> str:
    """The address, which may have a query of its own (RFC 6749 3.1)."""
    return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"


class ProviderMetadata(Struct, frozen=True):
    """The endpoints of a provider; those that it may lack are "". `names_issuer`: its responses say
    who sends them (RFC 9207). `takes_basic`: its token endpoint takes a client's secret as HTTP
    Basic, else in the form."""

    authorization: str
    token: str
    userinfo: str
    end_session: str
    names_issuer: bool
    takes_basic: bool


def read_metadata(document: bytes, issuer: str, url: str) -> ProviderMetadata:
    """The metadata that were fetched from `url`, which must be the issuer's own (Discovery 1.0,
    4.3). Raises KeysUnavailable."""
    members = object_of(document, url)
    if members.get("issuer") != issuer:
        name = str(members.get("issuer"))[:200]
        raise KeysUnavailable(f"{url} is the metadata of '{name}'")
    methods = members.get("code_challenge_methods_supported")
    if isinstance(methods, list) and "S256" not in methods:
        raise KeysUnavailable(f"{url}: the provider does not support PKCE with S256")
    return ProviderMetadata(
        authorization=_endpoint(members, "authorization_endpoint", url),
        token=_endpoint(members, "token_endpoint", url),
        userinfo=_endpoint(members, "userinfo_endpoint", url, may_lack=True),
        end_session=_endpoint(members, "end_session_endpoint", url, may_lack=True),
        names_issuer=members.get("authorization_response_iss_parameter_supported") is True,
        takes_basic=_takes_basic(members.get("token_endpoint_auth_methods_supported")),
    )


def _endpoint(members: dict[str, Any], name: str, url: str, *, may_lack: bool = False) -> str:
    value = members.get(name)
    if may_lack and value is None:
        return ""
    try:
        return endpoint(value, url)
    except ValueError as error:
        raise KeysUnavailable(f"{url}: {name} {error}") from error


def _takes_basic(methods: object) -> bool:
    """Whether HTTP Basic is among the methods, which it is by default (Discovery 1.0, 3)."""
    return not isinstance(methods, list) or "client_secret_basic" in methods

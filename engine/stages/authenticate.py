"""Authentication: the caller of a request, by its token, which `token_carriers.py` reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from engine.callers.jwt.refusal import KeysUnavailable, TokenRefused
from engine.edge.origin import SameOrigin
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.member_protocols import Headers
from engine.exchange.sign_in import SignIn
from engine.exchange.stage_services import ClientSecretKeys, Services
from engine.spec.security import Carrier
from engine.stages.client_secret import caller_of_client_secret, invalid_client_secret
from engine.stages.token_carriers import (
    challenge_of,
    places_text,
    secrets_reader,
    secrets_remover,
)
from engine.values.caller import Caller, digest
from engine.values.client_address import caller_address, networks, within
from engine.values.errors import GatewayError

_MAX_TOKEN = 4096
_FindCaller = Callable[[Sequence[str], Exchange], Caller]
"""Finds the caller of a request, by the secrets in it."""
_EXPIRED = "The token has expired or was revoked. Ask the platform's operator for a new one."


def authenticate(
    carriers: Sequence[Carrier],
    anonymous: bool,
    services: Services,
    *,
    any_operation: bool = False,
    has_http: bool = False,
    same_origin: SameOrigin | None = None,
    client_secrets: ClientSecretKeys | None = None,
    sign_in: SignIn | None = None,
) -> Stage:
    """A stage that sets `exchange.caller`: by the token of the request or, for one from inside of
    this process, by its connection. A secret that one of the `client_secrets` has sealed stands for
    the token that it was made from; without a secret, the session of a page that `sign_in` knows
    does. The contents of all `carriers` are removed from the request, so
    that no token is forwarded or logged; on an `anonymous` route that is all, unless it copies a
    file.

    Raises GatewayError 401 without a valid token; 429 for an unknown token from an address that has
    tried many; 403 for a token that may not call this operation (unless `any_operation`) or not
    from this address, and for one that a browser attached to a request of a page that `same_origin`
    does not allow. It is 426 for the operation of a WebSocket that `has_http` beside it: clients
    then send their requests so at once, where a 403 costs Codex seven tries.
    """
    remove_secrets = secrets_remover(carriers)
    if anonymous:
        return _anonymous(remove_secrets)
    not_allowed = _no_socket if has_http else _not_allowed
    read_secrets = secrets_reader(carriers, same_origin or SameOrigin())
    callers = _Callers(places_text(carriers), challenge_of(carriers), services)
    find_caller = _find_caller(callers, sign_in, client_secrets)

    def stage(exchange: Exchange, following: Handler) -> Response:
        internal = exchange.connection.internal
        if internal is None:
            secrets = read_secrets(exchange)
            remove_secrets(exchange)
            caller = find_caller(secrets, exchange)
        else:
            remove_secrets(exchange)
            caller = callers.inside(internal, exchange)
        exchange.caller = caller
        if not (any_operation or caller.may_call(exchange.operation)):
            raise not_allowed(exchange.operation)
        if caller.ips is not None:
            _check_address(caller.ips, exchange, services)
        return following(exchange)

    return stage


def _anonymous(remove_secrets: Callable[[Exchange], None]) -> Stage:
    """The stage of a route without authentication."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        remove_secrets(exchange)
        internal = exchange.connection.internal
        # A copy of a file is a request of the caller's, whatever its route.
        if internal is not None and internal.is_copy:
            exchange.caller, exchange.token = internal.caller, internal.token
        return following(exchange)

    return stage


class _Callers(Struct, frozen=True):
    """Finds callers. `places` is the text of the places that a token may stand in, `challenge` the
    headers of a refusal."""

    places: str
    challenge: Headers
    services: Services

    def by_token(self, secrets: Sequence[str], exchange: Exchange) -> Caller:
        """The caller with one of these tokens. Raises GatewayError 401, 429 and 503."""
        services = self.services
        expired, refusal, signed = False, None, services.signed_tokens
        for secret in secrets:
            if signed is not None and signed.is_signed(secret):
                try:
                    caller, exchange.token = signed.caller(secret)
                except TokenRefused as error:
                    refusal = error
                    continue
                except KeysUnavailable as error:
                    raise _no_keys() from error
                return caller
            if len(secret) > _MAX_TOKEN:
                continue
            # By digest: timing reveals SHA-256 values only, which a caller cannot choose.
            token = digest(secret)
            holder = services.tokens.get(token)
            if holder is None:
                continue
            if holder.expires is not None and services.clock() >= holder.expires:
                expired = True
                continue
            exchange.token = token
            return holder
        if expired:
            raise self._refusal(_EXPIRED)
        raise self._refusal(self._reason(secrets, refusal, exchange))

    def inside(self, internal: InternalCaller, exchange: Exchange) -> Caller:
        """The caller of a request from inside. A token in it is of no account."""
        caller = internal.caller
        if caller is None:
            return self.by_token((), exchange)
        if caller.expires is not None and self.services.clock() >= caller.expires:
            raise self._refusal(_EXPIRED)
        exchange.token = internal.token
        return caller

    def by_session(self, sign_in: SignIn, secrets: Sequence[str], exchange: Exchange) -> Caller:
        """The caller of a request's token; without one, that of the session of its page."""
        if secrets:
            return self.by_token(secrets, exchange)
        try:
            session = sign_in.caller(exchange.environ)
        except TokenRefused as error:
            raise self._refusal(str(error), "invalid_session") from error
        if session is None:
            return self.by_token(secrets, exchange)
        caller, exchange.token = session
        exchange.environ = environ = dict(exchange.environ)
        del environ["HTTP_COOKIE"]
        return caller

    def _reason(
        self, secrets: Sequence[str], refusal: TokenRefused | None, exchange: Exchange
    ) -> str:
        """Why none of the secrets is a token. Raises GatewayError 429 for too many of them."""
        if not secrets:
            return f"The request has no token. Send it as {self.places}."
        if refusal is not None and refusal.is_known:
            return str(refusal)
        _limit_guesses(exchange, self.services)
        if refusal is not None:
            return str(refusal)
        message = "The token is not known here. Check that this platform issued it."
        return invalid_client_secret(secrets, self.services) or message

    def _refusal(self, message: str, code: str = "invalid_api_key") -> GatewayError:
        return GatewayError(401, code, message, headers=self.challenge)


def _find_caller(
    callers: _Callers, sign_in: SignIn | None, client_secrets: ClientSecretKeys | None
) -> _FindCaller:
    """A function that finds the caller of a request from outside."""
    find = callers.by_token if sign_in is None else partial(callers.by_session, sign_in)
    if client_secrets is None:
        return find

    def find_by_client_secret(secrets: Sequence[str], exchange: Exchange) -> Caller:
        services, challenge = callers.services, callers.challenge
        caller = caller_of_client_secret(secrets, client_secrets, challenge, exchange, services)
        return caller or find(secrets, exchange)

    return find_by_client_secret


def _no_keys() -> GatewayError:
    message = "The keys of the token's issuer cannot be had at this moment. Try again shortly."
    return GatewayError(503, "keys_unavailable", message, headers=[("retry-after", "5")])


def _limit_guesses(exchange: Exchange, services: Services) -> None:
    """Raises GatewayError 429 for an address that has tried too many unknown tokens."""
    wait = services.guesses.take(caller_address(exchange.environ, services.proxies))
    if wait:
        seconds = math.ceil(wait)
        message = (
            "The token is not known here, and too many unknown tokens were tried from this "
            f"address. Check the token; another may be tried in {seconds} s."
        )
        headers = [("retry-after", str(seconds))]
        raise GatewayError(429, "too_many_unknown_tokens", message, headers=headers)


def _not_allowed(operation: str) -> GatewayError:
    """403 for an operation that the token may not call."""
    message = f"This token may not call '{operation}'."
    return GatewayError(403, "operation_not_allowed", message)


def _no_socket(operation: str) -> GatewayError:
    """426 for a WebSocket that the token may not open (RFC 9110 15.5.22)."""
    message = f"This token may not call '{operation}'; send a POST to the same path over HTTP/1.1."
    headers = [("upgrade", "HTTP/1.1"), ("connection", "Upgrade")]
    return GatewayError(426, "operation_not_allowed", message, headers=headers)


def _check_address(ips: tuple[str, ...], exchange: Exchange, services: Services) -> None:
    """Raises GatewayError 403 if the token may not be used from this address."""
    address = caller_address(exchange.environ, services.proxies)
    if not within(address, networks(ips)):
        message = f"This token may not be used from {address or 'here'}."
        raise GatewayError(403, "address_not_allowed", message)

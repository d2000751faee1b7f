"""Who calls: the token is found where the operation's security says, taken out, and looked up."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.edge.same_origin import SameOrigin
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.services import Services
from engine.exchange.wsgi_environ import environ_key
from engine.spec.parameters import cookies
from engine.spec.query_string import Query
from engine.spec.security import Carrier
from engine.values.caller import Caller, digest
from engine.values.client_address import caller_address, networks, within
from engine.values.errors import GatewayError, Malformed

Headers = list[tuple[str, str]]
_LONGEST = 4096
_SUBPROTOCOLS = "HTTP_SEC_WEBSOCKET_PROTOCOL"
_FOREIGN = (
    "A token that a browser sends by itself is accepted from this gateway's own pages alone, "
    "and from those of cors.origins. Send it in a header of the request."
)


def authenticate(
    carriers: Sequence[Carrier],
    public: bool,
    services: Services,
    *,
    any_operation: bool = False,
    same_origin: SameOrigin | None = None,
) -> Stage:
    """A stage that sets `exchange.caller`, or raises GatewayError 401 (429 for an unknown token
    from an address that has tried many), or 403 for a token that is not for this operation (unless
    it is asked for by any) or this address, or that a browser attached for a page that
    `same_origin` does not allow.

    Whatever stands in any of `carriers` is taken out of the request, also on a public route, so
    that it can be neither forwarded nor logged.
    """
    headers = [environ_key(c.name) for c in carriers if c.kind in ("bearer", "basic", "header")]
    headers += ["HTTP_COOKIE"] if any(c.kind == "cookie" for c in carriers) else []
    prefixes = tuple(c.name.lower() for c in carriers if c.kind == "subprotocol")
    in_query = frozenset(c.name for c in carriers if c.kind == "query")
    wanted, challenge = _wanted(carriers), _challenge(carriers)
    find = _finder(carriers, same_origin or SameOrigin())

    def stage(exchange: Exchange, following: Handler) -> Response:
        secrets = [] if public else find(exchange)
        if in_query and exchange.query:
            exchange.query = Query.parse(exchange.query).without(in_query)
            exchange.rewrite_query()
        for key in headers:
            if key in exchange.environ:
                exchange.environ = left = dict(exchange.environ)
                del left[key]
        if prefixes and _SUBPROTOCOLS in exchange.environ:
            exchange.environ = _without_subprotocols(exchange.environ, prefixes)
        if not public:
            exchange.caller = _caller(secrets, wanted, challenge, exchange, services)
            if not any_operation:
                _permit(exchange.caller, exchange.operation)
            _welcome(exchange.caller, exchange, services)
        return following(exchange)

    return stage


def _finder(
    carriers: Sequence[Carrier], same_origin: SameOrigin
) -> Callable[[Exchange], list[str]]:
    """What reads the tokens of a request. It raises GatewayError 403 for one whose only token was
    attached by a browser for a page of another origin."""
    explicit = [carrier for carrier in carriers if not _is_ambient(carrier)]

    def find(exchange: Exchange) -> list[str]:
        if len(explicit) == len(carriers) or same_origin.allows(exchange.environ):
            return _secrets(exchange, carriers)
        found = _secrets(exchange, explicit)
        if not found and _secrets(exchange, carriers):
            raise GatewayError(403, "origin_not_allowed", _FOREIGN)
        return found

    return find


def _is_ambient(carrier: Carrier) -> bool:
    """Whether browsers attach such a token by themselves, whoever's page sends the request."""
    return carrier.kind in ("cookie", "basic") or carrier == ("header", "cookie")


def _secrets(exchange: Exchange, carriers: Sequence[Carrier]) -> list[str]:
    """Every token the request carries, in the order of the carriers."""
    found = []
    for carrier in carriers:
        value = carried(exchange, carrier)
        if value:
            found.append(value)
    return found


def carried(exchange: Exchange, carrier: Carrier) -> str | None:
    """The token that stands in this carrier; None or "" when there is none."""
    if carrier.kind == "bearer":
        scheme, _, secret = (exchange.header("HTTP_AUTHORIZATION") or "").partition(" ")
        return secret.strip() if scheme.lower() == "bearer" else None
    if carrier.kind == "basic":
        return _password(exchange.header("HTTP_AUTHORIZATION") or "")
    if carrier.kind == "header":
        return exchange.header(environ_key(carrier.name))
    if carrier.kind == "query":
        try:
            return Query.parse(exchange.query).get(carrier.name)
        except Malformed:
            return None
    if carrier.kind == "subprotocol":
        prefix = carrier.name.lower()
        said = [p for p in _subprotocols(exchange.environ) if p.lower().startswith(prefix)]
        return said[0][len(prefix) :] if said else None
    value = dict(cookies(exchange.header("HTTP_COOKIE"))).get(carrier.name, "")
    return value[1:-1] if value[:1] == value[-1:] == '"' else value  # RFC 6265 4.1.1


def _password(authorization: str) -> str | None:
    """The password of HTTP Basic (RFC 7617); the user name before it may be any."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        pair = base64.b64decode(credentials.strip().encode("ascii"), validate=True).decode()
    except (UnicodeError, binascii.Error):
        return None
    return pair.partition(":")[2]


def _subprotocols(environ: Mapping[str, Any]) -> list[str]:
    return [said.strip() for said in str(environ.get(_SUBPROTOCOLS, "")).split(",")]


def _without_subprotocols(environ: Mapping[str, Any], prefixes: tuple[str, ...]) -> dict[str, Any]:
    """The environ without the subprotocols that carry a token; without any, if none is left."""
    said = [name for name in _subprotocols(environ) if name]
    left = [name for name in said if not name.lower().startswith(prefixes)]
    changed = {**environ, _SUBPROTOCOLS: ", ".join(left)}
    if not left:
        del changed[_SUBPROTOCOLS]
    return changed


def _caller(
    secrets: Sequence[str],
    wanted: str,
    challenge: Headers,
    exchange: Exchange,
    services: Services,
) -> Caller:
    expired = False
    for secret in secrets:
        if len(secret) > _LONGEST:
            continue
        # Looked up by its digest: timing tells of SHA-256 values only, which nobody can steer.
        hashed = digest(secret)
        caller = services.tokens.get(hashed)
        if caller is None:
            continue
        if caller.expires is not None and services.clock() >= caller.expires:
            expired = True
            continue
        return caller
    if expired:
        message = "The token has expired or was revoked. Ask the platform's operator for one."
    elif secrets:
        _count_guess(exchange, services)
        message = "The token is not known here. Check that it is this platform's own."
    else:
        message = f"The request has no token. Send it as {wanted}."
    raise GatewayError(401, "invalid_api_key", message, headers=challenge)


def _count_guess(exchange: Exchange, services: Services) -> None:
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


def _permit(caller: Caller, operation: str) -> None:
    """Raises GatewayError 403 for an operation that the token is not for."""
    if not caller.may_call(operation):
        message = f"This token may not call '{operation}'."
        raise GatewayError(403, "operation_not_allowed", message)


def _welcome(caller: Caller, exchange: Exchange, services: Services) -> None:
    """Raises GatewayError 403 for an address that the token is not for."""
    if caller.ips is None:
        return
    address = caller_address(exchange.environ, services.proxies)
    if not within(address, networks(caller.ips)):
        message = f"This token may not be used from {address or 'here'}."
        raise GatewayError(403, "address_not_allowed", message)


def _challenge(carriers: Sequence[Carrier]) -> Headers:
    """What a 401 asks for (RFC 9110 11.6.1). Browsers ask a person only where Basic is named."""
    kinds = [carrier.kind for carrier in carriers]
    basic = ("www-authenticate", 'Basic realm="modelway", charset="UTF-8"')
    bearer = ("www-authenticate", "Bearer")
    if "basic" not in kinds:
        return [bearer]
    return [bearer, basic] if "bearer" in kinds else [basic]


def _wanted(carriers: Sequence[Carrier]) -> str:
    said = {
        "bearer": "'Authorization: Bearer <token>'",
        "basic": "the password of HTTP Basic",
        "header": "header '{}'",
        "query": "query parameter '{}'",
        "cookie": "cookie '{}'",
        "subprotocol": "subprotocol '{}<token>'",
    }
    return " or ".join(said[carrier.kind].format(carrier.name) for carrier in carriers)

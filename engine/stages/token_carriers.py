"""The carriers of a route's tokens: how tokens are read from a request, and removed from it, so
that none is forwarded or logged."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from engine.edge.origin import SameOrigin
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import Headers
from engine.spec.parameters.parameter_readers import cookies
from engine.spec.parameters.query_string import Query
from engine.spec.security import Carrier
from engine.values.errors import GatewayError, Malformed

_SUBPROTOCOLS = "HTTP_SEC_WEBSOCKET_PROTOCOL"
_OTHER_ORIGIN = (
    "A token that a browser attaches is accepted only from this gateway's pages "
    "and from those of cors.origins. Send it in a header of the request."
)
ReadSecret = Callable[[Exchange], str | None]
"""Reads a token of a request; None or "" if there is none."""


def secrets_remover(carriers: Sequence[Carrier]) -> Callable[[Exchange], None]:
    """A function that removes the tokens, and all cookies where one may carry a token."""
    headers = [environ_key(c.name) for c in carriers if c.kind in ("bearer", "basic", "header")]
    headers += ["HTTP_COOKIE"] if any(c.kind == "cookie" for c in carriers) else []
    prefixes = tuple(c.name.lower() for c in carriers if c.kind == "subprotocol")
    in_query = frozenset(c.name for c in carriers if c.kind == "query")

    def remove_headers(exchange: Exchange) -> None:
        for key in headers:
            if key in exchange.environ:
                exchange.environ = environ = dict(exchange.environ)
                del environ[key]

    def remove(exchange: Exchange) -> None:
        remove_headers(exchange)
        if in_query and exchange.query:
            exchange.query = Query.parse(exchange.query).without(in_query)
            exchange.rewrite_query()
        if prefixes and _SUBPROTOCOLS in exchange.environ:
            exchange.environ = _without_subprotocols(exchange.environ, prefixes)

    return remove if in_query or prefixes else remove_headers


def secrets_reader(
    carriers: Sequence[Carrier], same_origin: SameOrigin
) -> Callable[[Exchange], Sequence[str]]:
    """A function that reads the tokens of a request.

    It raises GatewayError 403 if a browser attached the only token to a request of a page of
    another origin.
    """
    explicit = [carrier for carrier in carriers if not _is_ambient(carrier)]
    if [carrier.kind for carrier in carriers] == ["bearer"]:
        return _bearer_secrets
    read_all = partial(_secrets, [*map(secret_reader, carriers)])
    if len(explicit) == len(carriers):
        return read_all
    read_explicit = partial(_secrets, [*map(secret_reader, explicit)])

    def read(exchange: Exchange) -> Sequence[str]:
        if same_origin.allows(exchange.environ):
            return read_all(exchange)
        secrets = read_explicit(exchange)
        if not secrets and read_all(exchange):
            raise GatewayError(403, "origin_not_allowed", _OTHER_ORIGIN)
        return secrets

    return read


def _is_ambient(carrier: Carrier) -> bool:
    """Whether browsers attach such a token by themselves, also for pages of other origins."""
    return carrier.kind in ("cookie", "basic") or carrier == ("header", "cookie")


def _secrets(readers: Sequence[ReadSecret], exchange: Exchange) -> list[str]:
    """Every token the request carries, in the order of the carriers."""
    return [secret for read in readers if (secret := read(exchange))]


def _bearer_secrets(exchange: Exchange) -> Sequence[str]:
    """The token in Authorization, none without one."""
    scheme, _, secret = exchange.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    return (secret,) if scheme.lower() == "bearer" and (secret := secret.strip()) else ()


def secret_in(exchange: Exchange, carrier: Carrier) -> str | None:
    """The token in this carrier; None or "" if there is none."""
    return secret_reader(carrier)(exchange)


def secret_reader(carrier: Carrier) -> ReadSecret:
    """A function that reads the token in this carrier."""
    name = carrier.name
    readers: Mapping[str, ReadSecret] = {
        "bearer": _in_authorization,
        "basic": _in_password,
        "header": partial(_in_header, environ_key(name)),
        "query": partial(_in_query, name),
        "cookie": partial(_in_cookies, name),
        "subprotocol": partial(_in_subprotocols, name.lower()),
    }
    return readers[carrier.kind]


def _in_authorization(exchange: Exchange) -> str | None:
    return next(iter(_bearer_secrets(exchange)), None)


def _in_password(exchange: Exchange) -> str | None:
    """The password of HTTP Basic (RFC 7617); the user name is ignored."""
    scheme, _, credentials = (exchange.header("HTTP_AUTHORIZATION") or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        pair = base64.b64decode(credentials.strip().encode("ascii"), validate=True).decode()
    except (UnicodeError, binascii.Error):
        return None
    return pair.partition(":")[2]


def _in_header(key: str, exchange: Exchange) -> str | None:
    return exchange.header(key)


def _in_query(name: str, exchange: Exchange) -> str | None:
    try:
        return Query.parse(exchange.query).get(name) if exchange.query else None
    except Malformed:
        return None


def _in_cookies(name: str, exchange: Exchange) -> str | None:
    value = dict(cookies(exchange.header("HTTP_COOKIE"))).get(name, "")
    return value[1:-1] if value[:1] == value[-1:] == '"' else value  # RFC 6265 4.1.1


def _in_subprotocols(prefix: str, exchange: Exchange) -> str | None:
    names = [p for p in _subprotocols(exchange.environ) if p.lower().startswith(prefix)]
    return names[0][len(prefix) :] if names else None


def _subprotocols(environ: Mapping[str, Any]) -> list[str]:
    return [name.strip() for name in str(environ.get(_SUBPROTOCOLS, "")).split(",")]


def _without_subprotocols(environ: Mapping[str, Any], prefixes: tuple[str, ...]) -> dict[str, Any]:
    """The environ without the subprotocols that carry a token."""
    names = [name for name in _subprotocols(environ) if name]
    other_names = [name for name in names if not name.lower().startswith(prefixes)]
    changed = {**environ, _SUBPROTOCOLS: ", ".join(other_names)}
    if not other_names:
        del changed[_SUBPROTOCOLS]
    return changed


def challenge_of(carriers: Sequence[Carrier]) -> Headers:
    """WWW-Authenticate of a 401 (RFC 9110 11.6.1). Browsers show a dialog only for Basic."""
    kinds = [carrier.kind for carrier in carriers]
    basic = ("www-authenticate", 'Basic realm="modelway", charset="UTF-8"')
    bearer = ("www-authenticate", "Bearer")
    if "basic" not in kinds:
        return [bearer]
    return [bearer, basic] if "bearer" in kinds else [basic]


def places_text(carriers: Sequence[Carrier]) -> str:
    """The places of a token, for a message."""
    places = {
        "bearer": "'Authorization: Bearer <token>'",
        "basic": "the password of HTTP Basic",
        "header": "header '{}'",
        "query": "query parameter '{}'",
        "cookie": "cookie '{}'",
        "subprotocol": "subprotocol '{}<token>'",
    }
    return " or ".join(places[carrier.kind].format(carrier.name) for carrier in carriers)

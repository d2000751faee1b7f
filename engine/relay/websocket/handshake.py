"""The opening handshake of a WebSocket over HTTP (RFC 6455 section 4), and taking over the caller's
connection.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from websockets.exceptions import InvalidHeader, NegotiationError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    ServerPerMessageDeflateFactory,
)
from websockets.headers import build_extension, parse_extension, parse_subprotocol
from websockets.utils import accept_key, generate_key

from engine.exchange.caller_connection import CallerConnection
from engine.exchange.environ_headers import comma_separated
from engine.values.errors import AbortConnection, AbortReason, GatewayError

Extensions = tuple[Extension, ...]
_VERSION = "13"
# A window of 4 KB and little memory: a worker holds thousands of these.
_SERVER_DEFLATE = ServerPerMessageDeflateFactory(
    server_max_window_bits=12, client_max_window_bits=12, compress_settings={"memLevel": 5}
)
_CLIENT_DEFLATE = ClientPerMessageDeflateFactory(
    server_max_window_bits=12, client_max_window_bits=12, compress_settings={"memLevel": 5}
)
_SEND_SECONDS = 10.0


class UpgradeRequest(NamedTuple):
    """An upgrade request: its `protocols` in order of preference, its `extensions` header."""

    key: str
    protocols: tuple[str, ...]
    extensions: str


def parse_request(environ: Mapping[str, Any]) -> UpgradeRequest:
    """Read the client's handshake (RFC 6455 4.2.1).

    Raises GatewayError 426 for a request that asks for no WebSocket or for another version, 400 for
    a handshake that is not valid.
    """
    upgrade = comma_separated(environ.get("HTTP_UPGRADE"))
    if "websocket" not in upgrade:
        message = "This address is a WebSocket: send the request with 'Upgrade: websocket'."
        raise GatewayError(426, "upgrade_required", message, headers=_UPGRADE)
    if "upgrade" not in comma_separated(environ.get("HTTP_CONNECTION")):
        raise _invalid("its Connection header does not say 'Upgrade'")
    if environ.get("REQUEST_METHOD") != "GET" or environ.get("SERVER_PROTOCOL") != "HTTP/1.1":
        raise _invalid("it is not a GET with HTTP/1.1")
    if environ.get("HTTP_TRANSFER_ENCODING") or environ.get("CONTENT_LENGTH") not in (None, "0"):
        raise _invalid("it has a body")
    if environ.get("HTTP_SEC_WEBSOCKET_VERSION") != _VERSION:
        message = f"This server supports version {_VERSION} of WebSockets only."
        headers = [*_UPGRADE, ("sec-websocket-version", _VERSION)]
        raise GatewayError(426, "upgrade_required", message, headers=headers)
    key = environ.get("HTTP_SEC_WEBSOCKET_KEY", "")
    if not _is_key(key):
        raise _invalid("its Sec-WebSocket-Key is not 16 bytes in base64")
    extensions = environ.get("HTTP_SEC_WEBSOCKET_EXTENSIONS", "")
    return UpgradeRequest(key, subprotocols_of(environ), extensions)


def new_key() -> str:
    """The key of a client: 16 random bytes in base64."""
    return generate_key()


def answer_to(key: str) -> str:
    """The Sec-WebSocket-Accept for a key (RFC 6455 4.2.2)."""
    return accept_key(key)


def subprotocols_of(environ: Mapping[str, Any]) -> tuple[str, ...]:
    """The subprotocols that a request offers. Raises GatewayError 400 for a malformed header."""
    header = environ.get("HTTP_SEC_WEBSOCKET_PROTOCOL", "")
    if not header:
        return ()
    try:
        return tuple(parse_subprotocol(header))
    except InvalidHeader as error:
        # The library's message would show the header, which may contain a token.
        raise _invalid("its Sec-WebSocket-Protocol is not a list of names") from error


def switching_protocols(
    key: str,
    protocol: str = "",
    extensions: str = "",
    headers: Iterable[tuple[str, str]] = (),
) -> bytes:
    """The head of the 101 response (RFC 6455 4.2.2)."""
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    lines.append(f"Sec-WebSocket-Accept: {answer_to(key)}")
    if protocol:
        lines.append(f"Sec-WebSocket-Protocol: {protocol}")
    if extensions:
        lines.append(f"Sec-WebSocket-Extensions: {extensions}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def negotiate_deflate(extensions: str, compression: bool = True) -> tuple[str, Extensions]:
    """Accept permessage-deflate from a client that offers it (RFC 7692 section 7), if `compression`
    is on. Returns the Sec-WebSocket-Extensions of the response and the extension; "" and () if it
    is not accepted. Raises GatewayError 400 for a malformed header.
    """
    if not compression:
        return "", ()
    try:
        offers = parse_extension(extensions) if extensions else []
    except InvalidHeader as error:
        raise _invalid("its Sec-WebSocket-Extensions cannot be read") from error
    for name, parameters in offers:
        if name != _SERVER_DEFLATE.name:
            continue
        try:
            accepted, extension = _SERVER_DEFLATE.process_request_params(parameters, [])
        except NegotiationError:
            continue  # RFC 7692 5.1: an offer that cannot be accepted is declined
        return build_extension([(name, accepted)]), (extension,)
    return "", ()


def deflate_offer() -> str:
    """The Sec-WebSocket-Extensions of a client that offers permessage-deflate."""
    return build_extension([(_CLIENT_DEFLATE.name, _CLIENT_DEFLATE.get_request_params())])


def negotiated_deflate(extensions: Sequence[str], was_offered: bool) -> Extensions:
    """The extension that a server accepted from `deflate_offer`. Raises ValueError for any
    other."""
    if not extensions:
        return ()
    try:
        parsed = parse_extension(", ".join(extensions))
        if was_offered and [name for name, _ in parsed] == [_CLIENT_DEFLATE.name]:
            return (_CLIENT_DEFLATE.process_response_params(parsed[0][1], []),)
    except (InvalidHeader, NegotiationError) as error:
        raise ValueError(
            "it accepted an extension with parameters that were not offered"
        ) from error
    raise ValueError("it accepted an extension that was not offered")


_UPGRADE = [("upgrade", "websocket"), ("connection", "Upgrade")]


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        return False


def _invalid(reason: str) -> GatewayError:
    message = f"The WebSocket handshake is not valid: {reason}."
    return GatewayError(400, "invalid_handshake", message)


def require_take_over(connection: CallerConnection) -> None:
    """Raise GatewayError 501 if the WSGI server cannot hand over the caller's connection."""
    if not connection.can_take_over:
        message = "The server of this gateway cannot hand over a connection for a WebSocket."
        raise GatewayError(501, "not_implemented", message, retry=False)


def send_head(sock: Any, head: bytes) -> None:
    """Send the head of the 101 response on a socket that was taken over. Raises AbortConnection."""
    try:
        sock.settimeout(_SEND_SECONDS)
        sock.sendall(head)
    except OSError as error:
        raise AbortConnection(
            AbortReason.CALLER_LEFT, "the caller left before the upgrade"
        ) from error

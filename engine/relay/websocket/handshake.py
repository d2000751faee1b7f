"""HTTP's part of a WebSocket: the request that asks for one, and the answer (RFC 6455, 4)."""

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

from engine.exchange.environ_headers import comma_separated
from engine.values.errors import GatewayError

Extensions = tuple[Extension, ...]
_VERSION = "13"
# A window of 4 KB and little memory: a worker holds thousands of these.
_SERVER_DEFLATE = ServerPerMessageDeflateFactory(
    server_max_window_bits=12, client_max_window_bits=12, compress_settings={"memLevel": 5}
)
_CLIENT_DEFLATE = ClientPerMessageDeflateFactory(
    server_max_window_bits=12, client_max_window_bits=12, compress_settings={"memLevel": 5}
)


class UpgradeRequest(NamedTuple):
    """An upgrade request: `protocols` in its order, `extensions` as in its header."""

    key: str
    protocols: tuple[str, ...]
    extensions: str


def parse_request(environ: Mapping[str, Any]) -> UpgradeRequest:
    """Read a request that is to become a WebSocket (RFC 6455 4.2.1).

    Raises GatewayError 426 for one that does not ask for it or asks for another version, 400 for
    one that asks in a wrong way.
    """
    upgrade = comma_separated(environ.get("HTTP_UPGRADE"))
    if "websocket" not in upgrade:
        message = "This address is a WebSocket: the request has to ask for an upgrade to one."
        raise GatewayError(426, "upgrade_required", message, headers=_UPGRADE)
    if "upgrade" not in comma_separated(environ.get("HTTP_CONNECTION")):
        raise _wrong("its Connection header does not say 'Upgrade'")
    if environ.get("REQUEST_METHOD") != "GET" or environ.get("SERVER_PROTOCOL") != "HTTP/1.1":
        raise _wrong("it is no GET of HTTP/1.1")
    if environ.get("HTTP_TRANSFER_ENCODING") or environ.get("CONTENT_LENGTH") not in (None, "0"):
        raise _wrong("it has a body")
    if environ.get("HTTP_SEC_WEBSOCKET_VERSION") != _VERSION:
        message = f"This server speaks version {_VERSION} of WebSockets only."
        headers = [*_UPGRADE, ("sec-websocket-version", _VERSION)]
        raise GatewayError(426, "upgrade_required", message, headers=headers)
    key = environ.get("HTTP_SEC_WEBSOCKET_KEY", "")
    if not _is_key(key):
        raise _wrong("its Sec-WebSocket-Key is not 16 bytes in base64")
    extensions = environ.get("HTTP_SEC_WEBSOCKET_EXTENSIONS", "")
    return UpgradeRequest(key, offered(environ), extensions)


def new_key() -> str:
    """The key of a client: 16 random bytes in base64."""
    return generate_key()


def answer_to(key: str) -> str:
    """The answer of a WebSocket server to a key (RFC 6455 4.2.2)."""
    return accept_key(key)


def offered(environ: Mapping[str, Any]) -> tuple[str, ...]:
    """The subprotocols a request offers. Raises GatewayError 400 for a list that is none."""
    header = environ.get("HTTP_SEC_WEBSOCKET_PROTOCOL", "")
    if not header:
        return ()
    try:
        return tuple(parse_subprotocol(header))
    except InvalidHeader as error:
        # The library's words would show the header, and a token may stand in it.
        raise _wrong("its Sec-WebSocket-Protocol is no list of names") from error


def switching(
    key: str,
    protocol: str = "",
    extensions: str = "",
    headers: Iterable[tuple[str, str]] = (),
) -> bytes:
    """The head of the answer that makes a connection a WebSocket (RFC 6455 4.2.2)."""
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    lines.append(f"Sec-WebSocket-Accept: {answer_to(key)}")
    if protocol:
        lines.append(f"Sec-WebSocket-Protocol: {protocol}")
    if extensions:
        lines.append(f"Sec-WebSocket-Extensions: {extensions}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def deflating(extensions: str, compression: bool = True) -> tuple[str, Extensions]:
    """Agree on permessage-deflate with a client that offers it (RFC 7692 section 7): what the
    answer says, and the extension, or nothing of both. Raises GatewayError 400.

    Without `compression` nothing is agreed on.
    """
    if not compression:
        return "", ()
    try:
        offers = parse_extension(extensions) if extensions else []
    except InvalidHeader as error:
        raise _wrong("its Sec-WebSocket-Extensions cannot be read") from error
    for name, parameters in offers:
        if name != _SERVER_DEFLATE.name:
            continue
        try:
            agreed, extension = _SERVER_DEFLATE.process_request_params(parameters, [])
        except NegotiationError:
            continue  # RFC 7692 5.1: an offer that cannot be taken is declined
        return build_extension([(name, agreed)]), (extension,)
    return "", ()


def deflate_offer() -> str:
    """permessage-deflate as a client offers it."""
    return build_extension([(_CLIENT_DEFLATE.name, _CLIENT_DEFLATE.get_request_params())])


def negotiated_deflate(extensions: Sequence[str], was_offered: bool) -> Extensions:
    """The extension that a server took from `deflate_offer`. Raises ValueError for any other."""
    if not extensions:
        return ()
    try:
        parsed = parse_extension(", ".join(extensions))
        if was_offered and [name for name, _ in parsed] == [_CLIENT_DEFLATE.name]:
            return (_CLIENT_DEFLATE.process_response_params(parsed[0][1], []),)
    except (InvalidHeader, NegotiationError) as error:
        raise ValueError("it took an extension in a way that was not offered") from error
    raise ValueError("it took an extension that was not offered")


_UPGRADE = [("upgrade", "websocket"), ("connection", "Upgrade")]


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        return False


def _wrong(why: str) -> GatewayError:
    message = f"The request asks for a WebSocket in a way that is not valid: {why}."
    return GatewayError(400, "invalid_handshake", message)

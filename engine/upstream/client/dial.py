"""Open a socket to an upstream: TCP or unix socket, a proxy's CONNECT, TLS."""

from __future__ import annotations

import ssl
import time
from typing import Any, cast

import gevent
import gevent.socket

from engine.exchange.member_protocols import Socket
from engine.process.file_descriptors import is_exhausted, warn_exhausted
from engine.upstream.client.address import Origin, Proxy
from engine.upstream.client.connection import PIECE
from engine.upstream.client.dial_order import Address, AddressSource
from engine.upstream.client.failures import ConnectFailed, ConnectTimeout, UpstreamFailure
from engine.upstream.client.http1 import ResponseParser
from engine.values.errors import too_many_connections

_TRIES = 6
"""The largest number of addresses tried for one connection."""


def dial(
    origin: Origin,
    proxy: Proxy | None,
    context: ssl.SSLContext | None,
    seconds: float,
    addresses: AddressSource | None,
) -> tuple[Socket, Address | None]:
    """Open a socket, through the proxy's tunnel and with TLS if they are configured. Returns it
    with the address that accepted the connection.

    `addresses` are those of the proxy, or of the origin without one; None for a Unix socket. Each
    gets a share of `seconds`, the limit for everything. Raises ConnectFailed or ConnectTimeout;
    GatewayError 503 if no file descriptor is left.
    """
    limit = gevent.Timeout(seconds)
    try:
        with limit:
            return _open(origin, proxy, context, seconds, addresses)
    except gevent.Timeout as timeout:
        if timeout is not limit:
            raise
        raise ConnectTimeout(_address(origin, proxy)) from None
    except TimeoutError:
        raise ConnectTimeout(_address(origin, proxy)) from None
    except OSError as error:
        if is_exhausted(error):  # not the upstream's fault
            warn_exhausted()
            raise too_many_connections() from error
        raise ConnectFailed(f"{_address(origin, proxy)}: {_reason(error)}") from error


def _open(
    origin: Origin,
    proxy: Proxy | None,
    context: ssl.SSLContext | None,
    seconds: float,
    addresses: AddressSource | None,
) -> tuple[Socket, Address | None]:
    address: Address | None = None
    if addresses is None:
        sock = _connect(gevent.socket.AF_UNIX, origin.unix_path, None)
    else:
        sock, address = _connect_first(addresses, time.monotonic() + seconds)
    try:
        sock.settimeout(None)  # from here on `dial` limits the time
        if origin.tls and proxy is not None:
            _tunnel(sock, origin, proxy)
        if context is not None:
            # A connection without close_notify is an error: a body without a length may be cut.
            # The handshake is a step of its own, so that the TLS socket is closed if it times out.
            sock = context.wrap_socket(
                sock,
                server_hostname=origin.host.rstrip("."),
                suppress_ragged_eofs=False,
                do_handshake_on_connect=False,
            )
            sock.do_handshake()
    except BaseException:
        sock.close()
        raise
    return cast("Socket", sock), address


def _connect_first(addresses: AddressSource, until: float) -> tuple[Any, Address]:
    """A socket connected to the first address that accepts, and that address."""
    candidates = addresses.next()[:_TRIES]
    last = OSError("its name has no address")
    for position, address in enumerate(candidates):
        # An address that does not respond leaves time for the next ones.
        share = (until - time.monotonic()) / (len(candidates) - position)
        try:
            return _connect(address.family, address.sockaddr, max(share, 0.001)), address
        except OSError as error:
            addresses.refused(address)
            last = error.with_traceback(None)  # its frames refer to `last`: a reference cycle
    try:
        raise last
    finally:
        del last


def _connect(family: int, address: Any, seconds: float | None) -> Any:
    sock: Any = gevent.socket.socket(family, gevent.socket.SOCK_STREAM)
    try:
        if family != gevent.socket.AF_UNIX:
            sock.setsockopt(gevent.socket.IPPROTO_TCP, gevent.socket.TCP_NODELAY, 1)
            sock.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_KEEPALIVE, 1)
        sock.settimeout(seconds)
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock


def _tunnel(sock: Any, origin: Origin, proxy: Proxy) -> None:
    """Send CONNECT (RFC 9110 9.3.6). No error shows the proxy's password or response."""
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    lines = [f"CONNECT {host}:{origin.port} HTTP/1.1", f"Host: {host}:{origin.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    sock.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
    parser = ResponseParser("CONNECT")
    try:
        while not parser.has_head:
            data = sock.recv(PIECE)
            parser.feed(data) if data else parser.end()
    except UpstreamFailure:
        raise OSError("the proxy did not answer as a proxy does") from None
    if not 200 <= parser.status <= 299:
        raise OSError(f"the proxy answered {parser.status}")
    if parser.excess:
        raise OSError("the proxy sent bytes before the tunnel was used")


def _address(origin: Origin, proxy: Proxy | None) -> str:
    if proxy is not None:
        return f"{origin.host_header} by the proxy {proxy.host}:{proxy.port}"
    return origin.unix_path or origin.host_header


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is refused, {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed, {error.reason or error.strerror or 'cut'}"
    return error.strerror or str(error)

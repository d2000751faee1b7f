"""The WSGI environ of a request (PEP 3333)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote_to_bytes

from engine.server.http1.request import InvalidRequest, RequestHead

Environ = dict[str, Any]


def worker_environ(workers: int) -> Environ:
    """The fields that all requests of a worker share."""
    return {
        "SCRIPT_NAME": "",
        "SERVER_SOFTWARE": "modelway",
        "wsgi.version": (1, 0),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": workers > 1,
        "wsgi.run_once": False,
    }


def address_fields(prefix: str, address: object) -> Environ:
    """Host and port of a socket's address; a Unix socket has a path and no port."""
    if isinstance(address, tuple):
        host, port = address[0], str(address[1])
    else:
        host, port = (address.decode() if isinstance(address, bytes) else address), ""
    name = "ADDR" if prefix == "REMOTE" else "NAME"
    return {f"{prefix}_{name}": host, f"{prefix}_PORT": port}


def request_environ(connection: Environ, head: RequestHead) -> Environ:
    """The environ of a request: the fields of its connection, and those of its head. The server
    adds `wsgi.input`."""
    path = head.path
    return {
        **connection,
        "REQUEST_METHOD": head.method,
        "RAW_URI": head.target,
        "PATH_INFO": path if path.isascii() and "%" not in path else _unquote(path),
        "QUERY_STRING": head.query,
        "SERVER_PROTOCOL": "HTTP/1.1" if head.minor_version else "HTTP/1.0",
        **head.headers,
    }


def _unquote(path: str) -> str:
    return unquote_to_bytes(path.encode("latin-1")).decode("latin-1")


class SchemeHeaders:
    """Headers by which a trusted proxy says that its caller used TLS: gunicorn's settings
    `secure_scheme_headers` and `forwarded_allow_ips`. Every peer of a Unix socket is trusted.
    """

    def __init__(self, headers: Mapping[str, str], proxies: Sequence[str]) -> None:
        self._headers = [
            ("HTTP_" + name.upper().replace("-", "_"), value) for name, value in headers.items()
        ]
        self._proxies = tuple(proxies)

    def trusts(self, address: object) -> bool:
        """Whether the peer at this address is a trusted proxy."""
        return not isinstance(address, tuple) or _is_among(address[0], self._proxies)

    def apply(self, environ: Environ) -> None:
        """Set the scheme of a request from a trusted proxy. Raises InvalidRequest."""
        schemes = {environ[key] == value for key, value in self._headers if key in environ}
        if len(schemes) > 1:
            raise InvalidRequest(400, "headers that contradict each other about the scheme")
        for secure in schemes:
            environ["wsgi.url_scheme"] = "https" if secure else "http"


@lru_cache(maxsize=1024)
def _is_among(address: str, proxies: tuple[str, ...]) -> bool:
    networks = [ip_network(proxy) for proxy in proxies if proxy != "*"]
    return "*" in proxies or any(ip_address(address) in network for network in networks)

"""What an application is told of a request: the WSGI environment (PEP 3333)."""

from __future__ import annotations

from typing import Any

from gunicorn.http.wsgi import proxy_environ
from gunicorn.util import unquote_to_wsgi_str

UNPREFIXED = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}


def environ_of(base: dict[str, Any], req: Any, sock: Any, peer: Any, server: Any) -> dict[str, Any]:
    """The environment of a request, upon what is the same for all (`base`)."""
    if req.environ is None:  # else it comes with the same head as another before it
        req.environ = _made(base, req, sock, peer, server)
    environ: dict[str, Any] = req.environ.copy()
    environ["wsgi.input"] = req.body
    if req.length:
        environ["CONTENT_LENGTH"] = req.length
    return environ


def _made(base: dict[str, Any], req: Any, sock: Any, peer: Any, server: Any) -> dict[str, Any]:
    """What its head says, and its connection."""
    environ = base.copy()
    environ["wsgi.url_scheme"] = req.scheme
    environ["gunicorn.socket"] = sock
    environ["REQUEST_METHOD"] = req.method
    environ["RAW_URI"] = req.uri
    path = req.path
    environ["PATH_INFO"] = path if path.isascii() and "%" not in path else unquote_to_wsgi_str(path)
    environ["QUERY_STRING"] = req.query
    environ["SERVER_PROTOCOL"] = "HTTP/1.1" if req.version == (1, 1) else "HTTP/1.0"
    environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = _address(peer)
    environ["SERVER_NAME"], environ["SERVER_PORT"] = _address(server)
    if req.fields is not None:
        environ.update(req.fields)
        return environ
    for name, value in req.headers:
        key = UNPREFIXED.get(name)
        if key is None:
            key = "HTTP_" + name.replace("-", "_")
            if key in environ:
                value = f"{environ[key]},{value}"
        environ[key] = value
    if req.proxy_protocol_info:
        environ.update(proxy_environ(req))
    return environ


def _address(address: Any) -> tuple[str, str]:
    """Host and port of a socket's address; a Unix socket has a path and no port."""
    if isinstance(address, tuple):
        return address[0], str(address[1])
    return (address.decode() if isinstance(address, bytes) else address), ""

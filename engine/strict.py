"""gunicorn's request, stricter at the door, and what an application is told of it.

Folded headers and line ends that are not CRLF are refused: gunicorn's C parser takes them, and
what two parsers read differently can smuggle a request.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

import gevent
from gunicorn.http import errors, message
from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.wsgi import proxy_environ
from gunicorn.util import unquote_to_wsgi_str

_LOOSE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]")
_LONGEST_CHUNK_LINE = 4096
_LONGEST_TRAILERS = 16_384
_CHUNKS_IN_A_TURN = 64
_MOST_TINY_CHUNKS = 10_000
_TINY = 64
_UNPREFIXED = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}


class StrictChunkedReader(ChunkedReader):  # type: ignore[misc]
    """A chunked body whose lines and trailers are bounded and end in CRLF (RFC 9112 7.1)."""

    chunks = 0
    size = 0

    def parse_chunk_size(self, unreader: Any, data: bytes | None = None) -> Any:
        line = bytearray(data or b"")
        while (end := line.find(b"\r\n")) < 0:
            if len(line) > _LONGEST_CHUNK_LINE:
                raise errors.InvalidChunkSize(b"a chunk's line is too long")
            line += self._more(unreader)
        if b"\n" in line[:end]:
            raise errors.InvalidChunkExtension("a bare line feed is not allowed")
        self._count()
        found = super().parse_chunk_size(unreader, data=bytes(line))
        self.size += found[0]
        return found

    def parse_trailers(self, unreader: Any, data: bytes) -> Any:
        trailers = bytearray(data)
        while trailers[:2] != b"\r\n" and b"\r\n\r\n" not in trailers:
            if len(trailers) > _LONGEST_TRAILERS:
                raise errors.InvalidChunkExtension("the trailers are too long")
            trailers += self._more(unreader)
        return super().parse_trailers(unreader, bytes(trailers))

    def _count(self) -> None:
        """Let others have their turn, and refuse a body that is mostly lines about chunks."""
        self.chunks += 1
        if self.chunks % _CHUNKS_IN_A_TURN == 0:
            gevent.sleep(0)
        if self.chunks > _MOST_TINY_CHUNKS and self.size < self.chunks * _TINY:
            raise errors.InvalidChunkSize(b"the chunks are too small")

    def _more(self, unreader: Any) -> bytes:
        data: bytes = unreader.read()
        if not data:
            raise errors.NoMoreData()
        return data


class StrictRequest(message.Request):  # type: ignore[misc]
    """A request whose head has CRLF line ends only and no folded headers (RFC 9112 2.2, 5.2)."""

    body: Any

    def _parse_fast(self, unreader: Any, buf: bytearray) -> bytes:
        rest: bytes = super()._parse_fast(unreader, buf)
        if _LOOSE_LINE_END.search(buf, 0, len(buf) - len(rest)):
            raise errors.ObsoleteFolding("folded header, or a line end that is not CRLF")
        return rest

    def set_body_reader(self) -> None:
        super().set_body_reader()
        if isinstance(self.body.reader, ChunkedReader):
            self.body = Body(StrictChunkedReader(self, self.unreader))

    def _peer_is_trusted_proxy(self) -> bool:
        peer = self.peer_addr
        if not isinstance(peer, tuple):
            return True
        return _trusted(peer[0], tuple(self.cfg.forwarded_allow_ips))


@lru_cache(maxsize=1024)
def _trusted(address: str, allowed: tuple[str, ...]) -> bool:
    networks = [ip_network(known) for known in allowed if known != "*"]
    return "*" in allowed or any(ip_address(address) in network for network in networks)


def environ_of(base: dict[str, Any], req: Any, sock: Any, peer: Any, server: Any) -> dict[str, Any]:
    """The WSGI environment of a request (PEP 3333), upon what is the same for all (`base`)."""
    environ = base.copy()
    environ["wsgi.input"] = req.body
    environ["wsgi.url_scheme"] = req.scheme
    environ["gunicorn.socket"] = sock
    environ["REQUEST_METHOD"] = req.method
    environ["RAW_URI"] = req.uri
    environ["PATH_INFO"] = unquote_to_wsgi_str(req.path)
    environ["QUERY_STRING"] = req.query
    environ["SERVER_PROTOCOL"] = f"HTTP/{req.version[0]}.{req.version[1]}"
    environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = _address(peer)
    environ["SERVER_NAME"], environ["SERVER_PORT"] = _address(server)
    for name, value in req.headers:
        key = _UNPREFIXED.get(name)
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

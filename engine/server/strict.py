"""gunicorn's request, stricter at the door.

Folded headers, line ends that are not CRLF and a request line with more than one space between its
parts are refused: gunicorn's C parser takes them, and what two parsers read differently can smuggle
a request.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

import gevent
import gunicorn_h1c
from gunicorn.http import errors, message
from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.parser import RequestParser

from engine.server.environ import UNPREFIXED
from engine.server.received import KnownBody, Received
from engine.server.repeated import LONGEST_LENGTH, Head

_EMPTY_LINE = 2  # bytes: one may stand before a request (RFC 9112 2.2)
_LONGEST_CHUNK_LINE = 4096
_LONGEST_TRAILERS = 16_384
_CHUNKS_IN_A_TURN = 64
_MOST_TINY_CHUNKS = 10_000
_TINY = 64
_MOST_NAMES = 1000
_LONGEST_KEPT = 8192  # bytes of a head that a connection keeps


class Requests(RequestParser):  # type: ignore[misc]
    """The requests that come over one connection."""

    mesg: StrictRequest | None

    def __init__(self, cfg: Any, source: Any, source_addr: Any) -> None:
        super().__init__(cfg, source, source_addr)
        self.mesg_class = StrictRequest
        if hasattr(source, "recv"):
            self.unreader = Received(source)

    def __next__(self) -> Any:
        return self._again() or super().__next__()

    def _again(self) -> StrictRequest | None:
        """The next request, where it has the head of the last one and nothing is left to do."""
        last = self.mesg
        if last is None or last.head is None or last.body.left or last.should_close():
            return None
        data = self.unreader.read()
        if not data:
            raise StopIteration
        found = last.head.again(data)
        if found is None:
            self.unreader.unread(data)
            return None
        end, length = found
        self.unreader.unread(data[end:])
        self.req_count += 1
        self.mesg = last.again(length)
        return self.mesg

    def finish_body(self, deadline: Any = None, max_bytes: Any = None) -> bool:
        body = self.mesg.body if self.mesg is not None else None
        if type(body) is KnownBody and not body.left:
            return True
        finished: bool = super().finish_body(deadline, max_bytes)
        return finished


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
    """A request whose head has CRLF line ends only, no folded headers and single spaces in its
    first line (RFC 9112 2.2, 3, 5.2).

    What nearly every request is, is read here in one pass; whatever is not that, gunicorn reads: a
    head that comes in pieces, breaks a rule, or comes from a proxy that is believed; a target that
    is no plain path; a header that stands twice and may not; a name with an underscore; Expect, a
    transfer coding, a length that is no short number.
    """

    body: Any
    fields: dict[str, str] | None = None  # the headers by their WSGI names, of a plain one
    head: Head | None = None  # of a plain one
    environ: dict[str, Any] | None = None  # what an application is told of its head
    length = ""  # as it is said, where that may be another than when the head came first
    _length: int | None = None  # None: gunicorn is to find out
    _closing: bool | None = None

    def again(self, length: str) -> StrictRequest:
        """The same once more, with a length ("" for none, or the same)."""
        again = StrictRequest.__new__(StrictRequest)
        again.__dict__.update(self.__dict__)
        if length:
            again._length = int(length)
            again.length = length
        again.set_body_reader()
        return again

    def read_into(self, unreader: Any, buf: bytearray, stop: bool = False) -> None:
        """Read more of the head, with the names of CORRELATION_IDS as they are known here."""
        super().read_into(unreader, buf, stop)
        end = buf.find(b"\r\n\r\n")
        if buf.find(b"_id:", 0, end if end >= 0 else len(buf)) >= 0:
            end = end if end >= 0 else len(buf)
            buf[:end] = CORRELATION_IDS.sub(rb"\1-id:", bytes(buf[:end]))

    def _parse_fast(self, unreader: Any, buf: bytearray) -> bytes:
        data = bytes(buf)
        try:
            found = gunicorn_h1c.parse_request(
                data,
                limit_request_line=self._fast_limit_request_line,
                limit_request_fields=self.limit_request_fields,
                limit_request_field_size=self.limit_request_field_size,
            )
            plain = self._is_plain(found)
        except (gunicorn_h1c.ParseError, gunicorn_h1c.IncompleteError):
            plain = False
        if plain:
            rest = data[found["consumed"] :]
            head = data[: found["consumed"]]
        else:
            self._length = self._closing = self.fields = None
            rest = super()._parse_fast(unreader, buf)
            head = bytes(buf[: len(buf) - len(rest)])
        if _is_loose(head):
            raise errors.ObsoleteFolding("folded header, or a line end that is not CRLF")
        line = f"{self.method} {self.uri} HTTP/1.{self.version[1]}\r\n".encode("latin-1")
        if not head.startswith(line, _EMPTY_LINE if head.startswith(b"\r\n") else 0):
            raise errors.InvalidRequestLine("its parts are not separated by one space each")
        if plain and len(head) <= _LONGEST_KEPT:
            self.head = Head(head)
        return rest

    def _is_plain(self, found: dict[str, Any]) -> bool:
        """Take what the C parser found; False, and nothing is to be kept, for what needs care."""
        uri = found["path"].decode("latin-1")
        if uri[:1] != "/" or uri[:2] == "//" or "#" in uri or self._peer_is_trusted_proxy():
            return False
        self.uri, self.fragment = uri, ""
        self.path, _, self.query = uri.partition("?")
        self.method = found["method"].decode("latin-1")
        self.version = (1, found["minor_version"])
        self.fields = fields = {}
        for raw, value in found["headers"]:
            key, once = _KEYS.get(raw) or _key(raw)
            text = value.decode("latin-1")
            if key not in fields:
                fields[key] = text
            elif once:
                return False
            else:
                fields[key] += f",{text}"
        length = fields.get("CONTENT_LENGTH", "0")
        if not (length.isascii() and length.isdigit() and len(length) <= LONGEST_LENGTH):
            return False
        if not _CAREFUL.isdisjoint(fields):
            return False
        self._length = int(length)
        self._closing = _closes(fields.get("HTTP_CONNECTION", ""), self.version)
        return True

    def should_close(self) -> bool:
        if self.must_close or self._closing is None:
            return bool(super().should_close())
        return self._closing

    def set_body_reader(self) -> None:
        if self._length is not None:
            self.body = KnownBody(self.unreader, self._length)
            return
        super().set_body_reader()
        if isinstance(self.body.reader, ChunkedReader):
            self.body = Body(StrictChunkedReader(self, self.unreader))

    def _peer_is_trusted_proxy(self) -> bool:
        peer = self.peer_addr
        if not isinstance(peer, tuple):
            return True
        return _trusted(peer[0], tuple(self.cfg.forwarded_allow_ips))


CORRELATION_IDS = re.compile(rb"(?<=\r\n)((?i:session|conversation|thread))_id:")
"""Names with an underscore that coding agents send; every other such name is refused, as servers
cannot tell it from the one with a dash. These are taken for the one with a dash."""

_ODD = "_"
"""What stands for every name with an underscore."""
_CAREFUL = frozenset({"HTTP_TRANSFER_ENCODING", "HTTP_EXPECT", _ODD})
_ONCE = frozenset({"HTTP_HOST", "CONTENT_TYPE", "CONTENT_LENGTH", "HTTP_CONNECTION"})
_KEYS: dict[bytes, tuple[str, bool]] = {}


def _key(raw: bytes) -> tuple[str, bool]:
    """A header's name in the WSGI environment, and whether it may stand there only once."""
    name = raw.decode("latin-1").upper()
    key = _ODD if "_" in name else UNPREFIXED.get(name) or "HTTP_" + name.replace("-", "_")
    known = key, key in _ONCE
    if len(_KEYS) < _MOST_NAMES and len(raw) < 64:  # callers make up names
        _KEYS[raw] = known
    return known


def _is_loose(head: bytes) -> bool:
    """Has it a line end that is not CRLF, or a folded line?"""
    ends = head.count(b"\r\n")
    return (
        head.count(b"\n") != ends or head.count(b"\r") != ends or b"\n " in head or b"\n\t" in head
    )


def _closes(connection: str, version: tuple[int, int]) -> bool:
    if not connection:
        return version <= (1, 0)
    said = connection.lower().strip(" \t")
    return said == "close" or (said != "keep-alive" and version <= (1, 0))


@lru_cache(maxsize=1024)
def _trusted(address: str, allowed: tuple[str, ...]) -> bool:
    networks = [ip_network(known) for known in allowed if known != "*"]
    return "*" in allowed or any(ip_address(address) in network for network in networks)

"""gunicorn's gevent worker, stricter at the door and quicker to stop.

What is no valid HTTP request is answered with the error object instead of an HTML page. Folded
headers and line ends that are not CRLF are refused: gunicorn's C parser takes them, and what two
parsers read differently can smuggle a request. Idle connections end as soon as the worker does.
`gunicorn -k gevent` works as well, without these.
"""

from __future__ import annotations

import contextlib
import re
import socket
import uuid
from typing import Any

import gevent
import gevent.socket
import orjson
from gunicorn.http import errors, message
from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.parser import RequestParser
from gunicorn.workers.ggevent import GeventWorker

from engine.errors import CallerGone

_STATUS = (
    (errors.LimitRequestLine, 414, "URI Too Long"),
    (errors.LimitRequestHeaders, 431, "Request Header Fields Too Large"),
    (errors.ExpectationFailed, 417, "Expectation Failed"),
    (errors.ParseException, 400, "Bad Request"),
)
_LOOSE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]")
_LONGEST_CHUNK_LINE = 4096
_LONGEST_TRAILERS = 16_384
_CHUNKS_IN_A_TURN = 64
_MOST_TINY_CHUNKS = 10_000
_TINY = 64


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


class Worker(GeventWorker):  # type: ignore[misc]
    """The worker that `modelway serve` runs."""

    def init_process(self) -> None:
        self._sockets: dict[Any, Any] = {}
        self._idle: set[Any] = set()
        RequestParser.mesg_class = StrictRequest
        super().init_process()

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        if type(client) is gevent.socket.socket:
            client.__class__ = _Direct
        self._sockets[gevent.getcurrent()] = client
        try:
            super().handle(listener, client, addr)
        finally:
            self._sockets.pop(gevent.getcurrent(), None)

    def timeout_ctx(self) -> Any:
        return _Idle(self.cfg.keepalive, self._idle)

    def notify(self) -> None:
        """gunicorn calls this every second, also while it waits for the last requests."""
        super().notify()
        if self.alive:
            return
        for greenlet in list(self._idle):
            # What has arrived can still be read; after that the connection is at its end.
            with contextlib.suppress(OSError):
                self._sockets[greenlet].shutdown(socket.SHUT_RD)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> Any:
        try:
            return super().handle_request(listener_name, req, sock, addr)
        except TimeoutError as error:
            raise CallerGone("the caller takes nothing of the answer") from error

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what is no valid HTTP request, or failed before an answer began.

        The address is never logged: a token may stand in its query.
        """
        if isinstance(exc, errors.ParseException):
            self.log.warning("not a valid HTTP request: %s", type(exc).__name__)
            status, reason = next((s, r) for kind, s, r in _STATUS if isinstance(exc, kind))
        else:
            self.log.error("a connection failed", exc_info=exc)
            status, reason = 500, "Internal Server Error"
        try:
            client.sendall(_refusal(status, reason))
        except OSError as error:
            self.log.debug("the caller had left: %s", error)


class _Direct(gevent.socket.socket):
    """A caller's socket that sends what fits at once, without asking for its buffer's size."""

    __slots__ = ()  # it takes the place of a socket that is made already

    _sock: Any

    def sendall(self, data: Any, flags: int = 0) -> None:
        sent = 0
        with contextlib.suppress(BlockingIOError):
            sent = self._sock.send(data, flags)
        if sent < len(data):
            super().sendall(memoryview(data)[sent:], flags)


class _Idle(gevent.Timeout):
    """Waiting for a request: ends silently after the time."""

    def __init__(self, seconds: float, idle: set[Any]) -> None:
        super().__init__(seconds, False)  # type: ignore[arg-type]
        self._waiting = idle

    def __enter__(self) -> _Idle:
        self._waiting.add(gevent.getcurrent())
        super().__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> Any:
        self._waiting.discard(gevent.getcurrent())
        return super().__exit__(kind, value, traceback)


def _refusal(status: int, reason: str) -> bytes:
    error = {
        "message": f"The request is not valid HTTP/1.1 ({reason}).",
        "type": "invalid_request_error",
        "param": "",
        "code": "bad_request",
    }
    if status == 500:
        error |= {"message": "The gateway failed on this request.", "type": "server_error"}
        error["code"] = "internal_error"
    body = orjson.dumps({"error": error})
    head = (
        f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"X-Request-Id: req_{uuid.uuid4().hex}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

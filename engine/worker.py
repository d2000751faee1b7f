"""gunicorn's gevent worker, stricter at the door and quicker to stop.

What is no valid HTTP request is answered with the error object instead of an HTML page. Folded
headers and line ends that are not CRLF are refused: gunicorn's C parser takes them, and what two
parsers read differently can smuggle a request. Idle connections end as soon as the worker does.
`gunicorn -k gevent` works as well, without these.
"""

from __future__ import annotations

import io
import re
import uuid
from typing import Any

import gevent
import orjson
from gunicorn.http import errors, message
from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.parser import RequestParser
from gunicorn.workers.ggevent import GeventWorker

_STATUS = (
    (errors.LimitRequestLine, 414, "URI Too Long"),
    (errors.LimitRequestHeaders, 431, "Request Header Fields Too Large"),
    (errors.ExpectationFailed, 417, "Expectation Failed"),
    (errors.ParseException, 400, "Bad Request"),
)
_LOOSE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]")
_LONGEST_CHUNK_LINE = 4096


class StrictChunkedReader(ChunkedReader):  # type: ignore[misc]
    """A chunked body whose chunk lines are bounded and end in CRLF alone (RFC 9112 7.1)."""

    def parse_chunk_size(self, unreader: Any, data: bytes | None = None) -> Any:
        line = io.BytesIO()
        line.write(data or b"")
        while (end := line.getvalue().find(b"\r\n")) < 0:
            if line.tell() > _LONGEST_CHUNK_LINE:
                raise errors.InvalidChunkSize(b"a chunk's line is too long")
            self.get_data(unreader, line)
        if b"\n" in line.getvalue()[:end]:
            raise errors.InvalidChunkExtension("a bare line feed is not allowed")
        return super().parse_chunk_size(unreader, data=line.getvalue())


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
        self._idle: dict[gevent.Timeout, Any] = {}
        RequestParser.mesg_class = StrictRequest
        super().init_process()

    def timeout_ctx(self) -> Any:
        return _Idle(self.cfg.keepalive, self._idle)

    def notify(self) -> None:
        """gunicorn calls this every second, also while it waits for the last requests."""
        super().notify()
        if not self.alive:
            for timeout, greenlet in list(self._idle.items()):
                gevent.kill(greenlet, timeout)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what is no valid HTTP request; anything else is gunicorn's business."""
        if not isinstance(exc, errors.ParseException):
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("not a valid HTTP request: %s", type(exc).__name__)
        status, reason = next((s, r) for kind, s, r in _STATUS if isinstance(exc, kind))
        try:
            client.sendall(_refusal(status, reason))
        except OSError as error:
            self.log.debug("the caller had left: %s", error)


class _Idle(gevent.Timeout):
    """Waiting for a request: ends silently after the time, or when the worker stops."""

    def __init__(self, seconds: float, idle: dict[gevent.Timeout, Any]) -> None:
        super().__init__(seconds, False)  # type: ignore[arg-type]
        self._waiting = idle

    def __enter__(self) -> _Idle:
        self._waiting[self] = gevent.getcurrent()
        super().__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> Any:
        self._waiting.pop(self, None)
        return super().__exit__(kind, value, traceback)


def _refusal(status: int, reason: str) -> bytes:
    error = {
        "message": f"The request is not valid HTTP/1.1 ({reason}).",
        "type": "invalid_request_error",
        "param": "",
        "code": "bad_request",
    }
    body = orjson.dumps({"error": error})
    head = (
        f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"X-Request-Id: req_{uuid.uuid4().hex}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

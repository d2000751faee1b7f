"""Calls operations in a heavy worker: large requests that come over one socket with others.

The worker makes a request of HTTP of each, and passes it with one end of a pair of sockets in place
of its caller's. Who calls is in the passed request, as it was found at the upgrade: no header can
say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gevent
import gevent.socket
from gevent import Greenlet
from msgspec.structs import replace

from engine.exchange.caller_connection import Answer, InternalCaller
from engine.server.http1.request import RequestHead
from engine.server.http1.request_body import BodyReader, ChunkedBody, LengthBody
from engine.server.large_requests.large_sizes import Lesson
from engine.server.large_requests.pass_requests import Passing
from engine.server.large_requests.passed_request import PassedRequest, Report
from engine.server.sockets.caller_socket import GeventSocket
from engine.values.errors import AbortConnection, AbortReason

_PIECE = 65_536
_END = b"\r\n\r\n"


class CallsFromSocket:
    """The calls of requests from a caller at `address`, whose connection the listener with this
    number has accepted (`engine.exchange.caller_connection.HeavyCalls`)."""

    __slots__ = ("_address", "_listener", "_passing")

    def __init__(self, passing: Passing, address: object, listener: int) -> None:
        self._passing, self._address, self._listener = passing, address, listener

    @property
    def above(self) -> float:
        return self._passing.sizes.above

    def note_cost(self, operation: str, size: int, seconds: float) -> None:
        self._passing.sizes.learn(Lesson(operation, size, seconds))

    def __call__(
        self, environ: dict[str, Any], body: bytes, caller: InternalCaller
    ) -> Answer | None:
        head = RequestHead(environ["REQUEST_METHOD"], environ["RAW_URI"], 1)
        head.headers = {name: value for name, value in environ.items() if _is_header(name)}
        head.content_length = len(body)
        caller = replace(caller, sockets=None)  # those of upstreams are of this process
        request = PassedRequest(head, body, self._address, self._listener, True, caller)
        try:
            near, far = gevent.socket.socketpair()
        except OSError:  # no descriptor is left
            return None
        passing = gevent.spawn(self._pass_on, far, request)
        answer = PassedAnswer(near, passing)
        try:
            has_begun = answer.begin()
        except BaseException:
            answer.close()
            raise
        if has_begun:
            return answer
        answer.close()
        return None

    def _pass_on(self, far: GeventSocket, request: PassedRequest) -> Report | None:
        with far:
            return self._passing.pass_on(far, request)


class PassedAnswer:
    """The response of a heavy worker, an `Answer`. `passing` waits for the end of its request."""

    def __init__(self, near: GeventSocket, passing: Greenlet[..., Report | None]) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self._near, self._passing = near, passing
        self._body: BodyReader = LengthBody(0)
        self._first = b""

    def begin(self) -> bool:
        """Read the head. False if this process has to serve the request. Raises GatewayError for
        one that is refused, AbortConnection."""
        data = b""
        while (end := data.find(_END)) < 0:
            piece = self._receive()
            if not piece:
                return self._end_without_head()
            data += piece
        line, *lines = data[:end].decode("latin-1").split("\r\n")
        self.status = int(line.split(" ", 2)[1])
        for each in lines:
            name, _, value = each.partition(":")
            self.headers.append((name, value.strip()))
        length = {name.lower(): value for name, value in self.headers}.get("content-length")
        self._body = ChunkedBody() if length is None else LengthBody(int(length))
        self._first = data[end + len(_END) :]
        return True

    def _end_without_head(self) -> bool:
        report = self._passing.get()
        if report is None:
            return False
        if report.refusal is not None:
            raise report.refusal
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF)

    def __iter__(self) -> Iterator[bytes]:
        data, self._first = self._first, b""
        while True:
            if piece := self._body.feed(data):
                yield piece
            if self._body.complete:
                return
            data = self._receive()
            if not data:
                raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF)

    def _receive(self) -> bytes:
        """The next bytes; none at the end, also of the process."""
        with suppress(OSError):
            return bytes(self._near.recv(_PIECE))
        return b""

    def close(self) -> None:
        """End the exchange: the heavy worker takes it for a caller who leaves."""
        self._near.close()


def _is_header(name: str) -> bool:
    return name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")

"""A request on its way from a worker to a heavy worker, and the report on its way back.

Both go over a pair of sockets that the worker makes for the request. A heavy worker that has got
its end says so; then the worker sends the request. The end of the pair tells each side that the
other one has died.
"""

from __future__ import annotations

import math
import pickle
from contextlib import suppress
from typing import Any, NamedTuple

from engine.exchange.caller_connection import InternalCaller
from engine.process.channel import receive_bytes, receive_message, send_bytes, send_message
from engine.server.http1.request import RequestHead
from engine.server.large_requests.large_sizes import Lesson
from engine.server.sockets.caller_socket import CallerSocket, GeventSocket
from engine.values.errors import GatewayError

_PIECE = 65_536
_LENGTH = 4
"""Bytes of the length of a lesson in a report."""
_READY, _BEGUN, _REUSABLE, _CLOSE = b"y", b"b", b"r", b"c"


class PassedRequest(NamedTuple):
    """A request whose head was read: `buffered` are the bytes behind it, `address` is the caller's,
    `listener` the number of the socket that accepted the connection. `close`: the connection ends
    with the response. `caller` is that of a request from inside, None for any other."""

    head: RequestHead
    buffered: bytes
    address: object
    listener: int
    close: bool
    caller: InternalCaller | None = None


class Report(NamedTuple):
    """What became of a passed request: an error to answer with if nothing was sent to the caller,
    whether its connection may carry another request, the bytes behind it, and what it cost to check
    its body, if that is known."""

    refusal: GatewayError | None = None
    is_reusable: bool = False
    rest: bytes = b""
    lesson: Lesson | None = None


def await_heavy_worker(sock: GeventSocket, seconds: float) -> bool:
    """Whether a heavy worker has got the other end within that time. Raises EOFError if it has
    died, or has no room for it: then it has read nothing of the request."""
    sock.settimeout(seconds)
    try:
        data = sock.recv(len(_READY))
    except TimeoutError:
        return False
    except OSError as error:
        raise EOFError from error
    finally:
        sock.settimeout(None)
    if not data:
        raise EOFError
    return True


def send_request(sock: GeventSocket, request: PassedRequest) -> None:
    """Raises OSError if the heavy worker has died."""
    send_message(sock, request._replace(buffered=b""))
    send_bytes(sock, request.buffered)


def receive_request(sock: GeventSocket) -> PassedRequest:
    """Tell the worker that its end has arrived, and read the request. Raises EOFError or OSError
    if the worker has died, or waits no longer."""
    sock.sendall(_READY)
    request: PassedRequest = receive_message(sock)
    return request._replace(buffered=receive_bytes(sock))


def receive_report(sock: GeventSocket) -> Report:
    """Wait for the end of the request, or of its process."""
    data = bytearray()
    with suppress(OSError):
        while piece := sock.recv(_PIECE):
            data += piece
    has_begun = data.startswith(_BEGUN)
    verdict, end = bytes(data[has_begun : has_begun + 1]), bytes(data[has_begun + 1 :])
    if not verdict:
        return Report(None if has_begun else heavy_worker_failure())
    length = int.from_bytes(end[:_LENGTH], "big")
    lesson, rest = end[_LENGTH : _LENGTH + length], end[_LENGTH + length :]
    if len(end) < _LENGTH or len(lesson) < length:  # the process has died within its report
        return Report()
    costs = pickle.loads(lesson) if lesson else None  # noqa: S301 - of our own process
    return Report(None, verdict == _REUSABLE, rest, costs)


def heavy_worker_failure() -> GatewayError:
    """The 500 for a request whose process has ended before it answered."""
    message = "The process that served this request has ended. Try again."
    return GatewayError(500, "internal_error", message)


def send_report(
    sock: GeventSocket, *, is_reusable: bool, rest: bytes, lesson: Lesson | None = None
) -> None:
    """Report the end of a request; the worker may have died."""
    verdict = _REUSABLE if is_reusable else _CLOSE
    costs = b"" if lesson is None else pickle.dumps(lesson, pickle.HIGHEST_PROTOCOL)
    with suppress(OSError):
        sock.sendall(verdict + len(costs).to_bytes(_LENGTH, "big") + costs + rest)


class NotedCost:
    """What it cost to check the body of a passed request (a `HeavyCalls` that calls nothing)."""

    above = math.inf

    def __init__(self) -> None:
        self.lesson: Lesson | None = None

    def note_cost(self, operation: str, size: int, seconds: float, /) -> None:
        self.lesson = Lesson(operation, size, seconds)

    def __call__(self, environ: dict[str, Any], body: bytes, caller: InternalCaller, /) -> None:
        return None


class ReportingSocket(CallerSocket):
    """The caller's socket in a heavy worker: it reports to the worker when a response begins, and
    notes what it cost to check the body."""

    __slots__ = ("_report", "cost")

    def __init__(self, client: GeventSocket, report: GeventSocket) -> None:
        super().__init__(client)
        self.heavy_calls = self.cost = NotedCost()
        self._report: GeventSocket | None = report

    def send(self, data: bytes) -> None:
        self._note_begin(data)
        super().send(data)

    def try_send(self, data: bytes) -> int:
        self._note_begin(data)
        return super().try_send(data)

    def _note_begin(self, data: bytes) -> None:
        if self._report is not None and not data.startswith(b"HTTP/1.1 100"):
            with suppress(OSError):  # the worker has died
                self._report.send(_BEGUN)
            self._report = None

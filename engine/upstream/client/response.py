"""The response of an upstream to one request: its head, and its body in parts or at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

from engine.exchange.member_protocols import Socket, UsageReader
from engine.upstream.client.connection import Connection
from engine.upstream.client.deadlines import Deadlines
from engine.upstream.client.failures import Cancelled, FirstByteTimeout, UpstreamFailure
from engine.upstream.client.http1 import ResponseParser
from engine.upstream.client.pool import Pool
from engine.upstream.client.request import pieces
from engine.values.media_types import essence
from engine.values.upstream_request import Spool


class IncomingResponse(Protocol):
    """The part of UpstreamResponse that relaying uses; a FilteredResponse has it too."""

    status: int
    headers: list[tuple[str, str]]
    length: int | None
    usage: UsageReader | None
    """Reads the usage of the answer below the first layer that changes it; None if none does."""

    def header(self, name: str) -> str | None: ...

    @property
    def is_complete(self) -> bool: ...

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes: ...

    def unread(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def detach(self) -> tuple[Socket, bytes]: ...


EVENT_STREAM = "text/event-stream"
JSON = "application/json"


def media_type(response: IncomingResponse) -> str:
    """The media type of a response, in lower case and without parameters."""
    return essence(response.header("content-type") or "")


def is_event_stream(response: IncomingResponse) -> bool:
    """Whether a response is a stream of server-sent events that is not encoded."""
    return media_type(response) == EVENT_STREAM and not response.header("content-encoding")


class UpstreamResponse:
    """A response: `status`, `headers` (names in lower case, in order, repeated ones included),
    `length` (its Content-Length, or None), and the body by `read`."""

    status = 0
    length: int | None = None
    usage: UsageReader | None = None
    _failure: UpstreamFailure | None = None
    _request_sent = False  # all of it; otherwise the connection cannot be reused

    def __init__(
        self, connection: Connection, parser: ResponseParser, pool: Pool, deadlines: Deadlines
    ) -> None:
        self.headers: list[tuple[str, str]] = []
        self._connection: Connection | None = connection
        self._parser = parser
        self._pool = pool
        self._deadlines = deadlines

    def begin(self, head: bytes, body: bytes | Spool | None) -> Self:
        """Send the request and wait for the head of the response. `Client` calls it once."""
        parser, deadlines = self._parser, self._deadlines
        try:
            self._send(head, body)
            deadline = deadlines.now() + deadlines.timeouts.first_byte
            while not parser.has_head and self._failure is None:
                # The first byte timeout also applies after an interim response.
                self._receive(None if parser.in_message else deadline)
        except BaseException:
            self._release()
            raise
        if not parser.has_head and self._failure is not None:
            raise self._failure
        self.status, self.headers, self.length = parser.status, parser.headers, parser.length
        if self._connection is not None and parser.is_complete and parser.status != 101:
            self._release()  # it arrived while the request was sent
        return self

    def header(self, name: str) -> str | None:
        """The first value of a header; its name in lower case."""
        return dict(reversed(self.headers)).get(name)

    @property
    def is_complete(self) -> bool:
        """Whether the body has ended and all of it has been read."""
        return self._parser.is_complete and self._failure is None and not self._parser.body

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the body, after a wait if none has arrived; b"" at the end.

        What arrived before a failure is returned first; then each call raises the UpstreamFailure.
        During the wait the event loop calls `on_data`, if given, with each part but the last. What
        it raises (no OSError) is raised here. Raises Silence if nothing arrives for `beat` seconds.
        After both exceptions the response can still be read.
        """
        parser = self._parser
        while not parser.body:
            if self._failure is not None:
                raise self._failure
            if parser.is_complete:
                return b""
            self._receive(on_data=on_data, beat=beat)
        return parser.take()

    def unread(self, data: bytes) -> None:
        """Return `data`, which `read` has returned last, from the next `read` again."""
        if data:
            self._parser.body.insert(0, data)

    def close(self) -> None:
        """Release the connection: back to the pool after a complete response, else closed.
        Idempotent. A greenlet that waits in `read` gets Cancelled.
        """
        if self._connection is None:
            return
        if not self._parser.is_complete and self._failure is None:
            self._fail(Cancelled())
        self._release()

    def detach(self) -> tuple[Socket, bytes]:
        """After a 101: the socket, which the caller must close, and the bytes after the head.
        Raises ValueError for another status."""
        if self.status != 101 or self._connection is None:
            raise ValueError("only a response of status 101 gives its socket away")
        sock, self._connection = self._connection.detach(), None
        return sock, self._parser.leftover

    def _send(self, head: bytes, body: bytes | Spool | None) -> None:
        connection = self._connection
        if connection is None:
            raise Cancelled
        try:
            self._request_sent = connection.send(
                pieces(head, body), self._parser, self._deadlines.first_byte
            )
        except UpstreamFailure as failure:
            self._fail(failure)

    def _receive(
        self,
        deadline: float | None = None,
        on_data: Callable[[bytes], None] | None = None,
        beat: float | None = None,
    ) -> None:
        """Feed the parser the next bytes: before `deadline` if given, else within the idle timeout.
        `on_data` and `beat` as in `read`."""
        connection, deadlines = self._connection, self._deadlines
        try:
            if connection is None:
                raise Cancelled
            if on_data is not None:
                connection.stream(self._parser, deadlines, on_data, beat)
            elif deadline is None:
                connection.receive(self._parser, deadlines.idle(beat))
            else:
                connection.receive(self._parser, deadlines.until(deadline, FirstByteTimeout))
        except UpstreamFailure as failure:
            self._fail(failure)
        else:
            # At the last byte of the response, not only when it is closed.
            if self._parser.is_complete and self._parser.status != 101:
                self._release()

    def _fail(self, failure: UpstreamFailure) -> None:
        """Keep the first failure, with the state of the request, and close the connection."""
        if self._failure is None:
            failure.request_sent = self._connection is not None and self._connection.bytes_sent > 0
            failure.response_started = self._parser.started
            self._failure = failure.without_traceback()  # it may be referenced for long
        self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if (
            self._request_sent
            and self._failure is None
            and self._parser.reusable
            and self._parser.is_complete
        ):
            self._pool.give(connection)
        else:
            self._parser.drop()
            connection.close()


MAX_ERROR = 65_536
"""The largest body of an error in bytes; a longer one counts as empty."""


def read_body(response: IncomingResponse, limit: int, first: bytes = b"") -> tuple[bytes, bool]:
    """Read the rest of a body after `first`. Returns the body, and whether it is complete: it is
    not if it is longer than `limit` bytes or breaks off. At least `limit` bytes of a longer body
    are returned."""
    pieces, size = [first], len(first)
    try:
        while size <= limit:
            data = response.read()
            if not data:
                return b"".join(pieces), True
            pieces.append(data)
            size += len(data)
    except UpstreamFailure as failure:
        failure.without_traceback()
    return b"".join(pieces), False


def read_whole(response: IncomingResponse, max_size: int) -> bytes | None:
    """The whole body; None if it is longer. The response is closed. Raises UpstreamFailure."""
    body = b""
    try:
        while len(body) <= max_size:
            if not (data := response.read()):
                return body
            body += data
        return None
    finally:
        response.close()

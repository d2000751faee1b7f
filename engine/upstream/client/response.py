"""One answer of an upstream: what its client and the caller of that share about one request."""

from __future__ import annotations

from collections.abc import Callable

from engine.upstream.client.connection import Connection, Socket
from engine.upstream.client.deadlines import Deadlines
from engine.upstream.client.failures import Cancelled, FirstByteTimeout, UpstreamFailure
from engine.upstream.client.http1 import ResponseParser
from engine.upstream.client.pool import Pool
from engine.upstream.client.request import Spool, pieces


class UpstreamResponse:
    """What an upstream answers: `status`, `headers` (names in lower case, in order, repeated ones
    kept), `length` (its Content-Length, or None), and the body by `read`."""

    status = 0
    length: int | None = None
    _failure: UpstreamFailure | None = None
    _sent_whole = False  # else the upstream still waits for the rest of the request

    def __init__(
        self, connection: Connection, parser: ResponseParser, pool: Pool, deadlines: Deadlines
    ) -> None:
        self.headers: list[tuple[str, str]] = []
        self._connection: Connection | None = connection
        self._parser = parser
        self._pool = pool
        self._deadlines = deadlines

    def begin(self, head: bytes, body: bytes | Spool | None) -> None:
        """Send the request and wait for the head of its answer; for Client alone, and once."""
        parser = self._parser
        try:
            self._send(head, body)
            deadlines = self._deadlines
            deadline = deadlines.now() + deadlines.timeouts.first_byte
            while not parser.headed and self._failure is None:
                # An interim answer is no sign that the final one has begun.
                self._receive(None if parser.begun else deadline)
        except BaseException:
            self._release()
            raise
        if not parser.headed and self._failure is not None:
            raise self._failure
        self.status = parser.status
        self.headers = parser.headers
        self.length = parser.length
        if self._connection is not None:
            self._settle()

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case."""
        low = name.lower()
        for known, value in self.headers:
            if known == low:
                return value
        return None

    @property
    def is_complete(self) -> bool:
        """Whether the body has come to its end, and all of it was read."""
        return self._parser.done and self._failure is None and not self._parser.body

    def read(self, passing: Callable[[bytes], None] | None = None) -> bytes:
        """The part of the body that has arrived, waiting until there is one; b"" at the end.

        What came before a failure is given first; then each call raises the UpstreamFailure.
        `passing`, where it is given, is called from the event loop with each part but the last that
        arrives while this waits; what it raises, but no OSError, is raised here, and the answer
        goes on.
        """
        parser = self._parser
        while not parser.body:
            if self._failure is not None:
                raise self._failure
            if parser.done:
                return b""
            self._receive(passing=passing)
        return parser.take()

    def silent(self, seconds: float) -> bool:
        """Whether nothing more arrives for so long. Returns early when something does."""
        if self._parser.body or self._parser.done or self._connection is None:
            return False
        return not self._connection.arrives(seconds)

    def close(self) -> None:
        """Let go of the connection: back to the pool after the whole answer, closed otherwise.

        Idempotent, and safe while another greenlet waits in `read`: that one gets Cancelled.
        """
        if not self._parser.done and self._failure is None:
            self._fail(Cancelled())
        if self._connection is not None:
            self._release()

    def detach(self) -> tuple[Socket, bytes]:
        """After a 101: the socket, now the caller's, and the bytes that came behind the head."""
        if self.status != 101 or self._connection is None:
            raise ValueError("only an answer of status 101 has a socket to give")
        sock, self._connection = self._connection.detach(), None
        return sock, self._parser.leftover

    def _send(self, head: bytes, body: bytes | Spool | None) -> None:
        connection = self._connection
        if connection is None:
            raise Cancelled
        try:
            self._sent_whole = connection.send(
                pieces(head, body), self._parser, self._deadlines.first_byte
            )
        except UpstreamFailure as failure:
            self._fail(failure)

    def _receive(
        self,
        deadline: float | None = None,
        passing: Callable[[bytes], None] | None = None,
    ) -> None:
        """Take in what arrives next: a first byte before `deadline`, or any within the pause that
        an upstream may make. With `passing`, see `read`."""
        connection, deadlines = self._connection, self._deadlines
        try:
            if connection is None:
                raise Cancelled
            if passing is not None:
                connection.stream(self._parser, deadlines.idle, passing)
            elif deadline is None:
                connection.receive(self._parser, deadlines.idle())
            else:
                connection.receive(self._parser, deadlines.until(deadline, FirstByteTimeout))
        except UpstreamFailure as failure:
            self._fail(failure)
        else:
            if self._parser.done:
                self._settle()

    def _settle(self) -> None:
        """Give the connection back with the last byte, not when the caller is done with it."""
        if self._parser.done and self._parser.status != 101:
            self._release()

    def _fail(self, failure: UpstreamFailure) -> None:
        """Keep the first failure, with what is known of the request, and hang up."""
        if self._failure is None:
            failure.sent = self._connection is not None and self._connection.sent > 0
            failure.answered = self._parser.started
            self._failure = failure.without_traceback()  # perhaps nobody ever asks for it
        self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        self._parser.drop()
        if (
            self._sent_whole
            and self._failure is None
            and self._parser.reusable
            and self._parser.done
        ):
            self._pool.give(connection)
        else:
            connection.close()

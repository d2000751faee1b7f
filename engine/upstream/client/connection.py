"""One connection to an upstream: send a request, receive a response, even before it is sent.

It knows a socket and no HTTP; `engine.upstream.client.http1` knows HTTP and no socket.
"""

from __future__ import annotations

import errno
import math
import ssl
from collections.abc import Callable, Iterable

import gevent
import gevent.socket
from gevent.monkey import get_original

from engine.exchange.member_protocols import Socket
from engine.upstream.client.deadlines import Deadlines, DeadlineTimer, Wait
from engine.upstream.client.dial_order import Address
from engine.upstream.client.failures import Silence
from engine.upstream.client.http1 import ResponseParser

PIECE = 64 * 1024
_PIECE_OF_STREAM = 16 * 1024
"""Events of 64 KB take tens of milliseconds, for which all other requests wait. A record of TLS is
not longer."""

# gevent removes `poll` from the standard module; its own starts a watcher even for a timeout of 0.
_poll = get_original("select", "poll")
_os_socket = get_original("socket", "socket")
_POLLIN = 1
_READ = 1  # the flag of libev for a descriptor that can be read
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def without_gevent(sock: Socket) -> Socket:
    """The socket of a new connection, one of Python's own if it is plain. A Connection waits by
    itself, and gevent's `recv` and `send` are Python functions around these."""
    return _os_socket(fileno=sock.detach()) if type(sock) is gevent.socket.socket else sock


class Connection:
    """An open socket that carries one request at a time."""

    __slots__ = (
        *("__weakref__", "_arrival", "_ready", "_recv", "_send", "_timer", "address", "born"),
        *("bytes_sent", "socket", "usable_until"),
    )

    def __init__(self, sock: Socket, born: float, address: Address | None = None) -> None:
        self.socket = sock
        self.address = address
        self.born = born  # both on the clock of the pool
        self.usable_until = born
        self.bytes_sent = 0  # bytes of the current request that have been sent
        poller = _poll()
        poller.register(sock.fileno(), _POLLIN)
        self._ready = poller.poll
        # One watcher for the life of the connection; gevent would make one for each wait.
        self._arrival = gevent.get_hub().loop.io(sock.fileno(), _READ)
        self._recv, self._send = sock.recv, sock.send
        self._timer = DeadlineTimer()
        sock.settimeout(0.0)  # all waiting is done in this class

    def retire(self) -> None:
        """Use the connection for no request after the current one."""
        self.born = self.usable_until = -math.inf

    def readable(self) -> bool:
        """Whether bytes, an end or an error have arrived. Does not wait."""
        # Holds for TLS too: PIECE is longer than a record, so no rest of one is buffered.
        return bool(self._ready(0))

    def send(
        self, pieces: Iterable[bytes | memoryview], parser: ResponseParser, wait: Callable[[], Wait]
    ) -> bool:
        """Send all pieces. False if the final response, or the end, arrived before the last one.

        `wait` gives the time limit each time the socket's buffer is full. Raises its failure, or
        those of ResponseParser for bytes that arrive meanwhile.
        """
        self.bytes_sent = 0
        for piece in pieces:
            unsent = piece
            while unsent:
                if self.bytes_sent and self._response_has_begun(parser):
                    return False
                try:
                    count = self._send(unsent)
                except _NOT_NOW:
                    count = 0
                except OSError:
                    return False  # the reason, if any, can still be received
                self.bytes_sent += count
                if count == len(unsent):
                    break
                unsent = memoryview(unsent)[count:]
                if not count:
                    self._wait_for_either(wait())
        return True

    def _response_has_begun(self, parser: ResponseParser) -> bool:
        """Feed `parser` what has arrived during sending. True after the final response's head."""
        if self.readable():
            try:
                data = self.socket.recv(PIECE)
            except _NOT_NOW:
                return False  # an incomplete TLS record, or one without data
            except OSError:
                data = b""
            if data:
                parser.feed(data)
            else:
                parser.end(clean=False)
        return parser.has_head

    def _wait_for_either(self, wait: Wait) -> None:
        seconds, failure = wait
        try:
            gevent.socket.wait_readwrite(self.socket.fileno(), timeout=seconds)
        except TimeoutError:
            raise failure from None

    def receive(self, parser: ResponseParser, wait: Wait) -> None:
        """Feed `parser` the next bytes, at most PIECE, or the end."""
        seconds, failure = wait
        try:
            # A wait that ends at once costs less than a failed `recv`; other greenlets run
            # meanwhile.
            self._timer.wait(self._arrival, seconds)
            try:
                data = self._recv(PIECE)
            except _NOT_NOW:
                data = self._receive_rest()
        except TimeoutError:
            raise failure from None
        except OSError:
            parser.end(clean=False)
            return
        if data:
            parser.feed(data)
        else:
            parser.end()

    def stream(
        self,
        parser: ResponseParser,
        deadlines: Deadlines,
        on_data: Callable[[bytes], None],
        beat: float | None = None,
    ) -> None:
        """Like `receive`, but the event loop calls `on_data` with each part of the body, until the
        body or the connection ends; between two of them the idle timeout holds. Raises what
        `on_data` raises, which must not be OSError, and Silence after `beat` quiet seconds."""
        recv, now, timer = self._recv, deadlines.now, self._timer
        start = since = now()

        def arrived() -> None:
            nonlocal since
            try:
                if not (data := recv(_PIECE_OF_STREAM)):
                    parser.end()
                elif (part := parser.next_part(data)) or not parser.is_complete:
                    if part:
                        on_data(part)
                    since = now()
                    return
            except _NOT_NOW:
                return
            except BaseException as error:  # noqa: BLE001 - raised in the greenlet that waits
                timer.resume(error)
            else:
                timer.resume()

        def remaining() -> float:
            seconds = deadlines.idle_since(since)
            until_beat = seconds if beat is None else since + beat - now()
            if until_beat <= 0:
                raise Silence(since == start)
            return min(seconds, until_beat)

        try:
            timer.watch(self._arrival, remaining, arrived)
        except OSError:
            parser.end(clean=False)

    def _receive_rest(self) -> bytes:
        """The next bytes, after an incomplete TLS record."""
        while True:
            self._timer.wait(self._arrival, self._timer.remaining())
            try:
                return self._recv(PIECE)
            except _NOT_NOW:
                continue

    def detach(self) -> Socket:
        """The socket, one of gevent's in blocking mode; the connection is not used any more."""
        self._timer.close()
        self._arrival.close()
        if isinstance(self.socket, _os_socket):
            return gevent.socket.socket(fileno=self.socket.detach())
        self.socket.settimeout(None)
        return self.socket

    def close(self) -> None:
        """Close the socket; idempotent. A greenlet that waits in `receive` gets an error."""
        self._timer.close()
        self._timer.cancel(OSError(errno.EBADF, "the connection was closed by another greenlet"))
        self._arrival.close()
        self.socket.close()
